"""``list``, ``explain`` and ``catalogue drift``: what the suite holds against a host, and where it says so."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import USAGE, app, stop

if TYPE_CHECKING:
    from conformance.catalogue import Catalogue, Obligation

catalogue_app = typer.Typer(help="For those who maintain the catalogue.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(catalogue_app, name="catalogue")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_obligations(
    text: Annotated[list[str] | None, typer.Argument(help="Words that must occur in the entry.")] = None,
    theme: Annotated[list[str] | None, typer.Option(help="One theme; may be repeated.")] = None,
    level: Annotated[list[str] | None, typer.Option(help="must, should or may; may be repeated.")] = None,
    provocation: Annotated[
        list[str] | None, typer.Option(help="What the host must be made to do; may be repeated.")
    ] = None,
    subject: Annotated[list[str] | None, typer.Option(help="host, client or reducer; may be repeated.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Only what holds at this version.")] = None,
    covered: Annotated[
        bool | None, typer.Option("--covered/--uncovered", help="Only what this edition judges, or does not judge.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Tab-separated fields, nothing cut. So it is where no terminal reads.")
    ] = False,
    json: AsJson = False,
) -> None:
    """The obligations, one a line."""
    from conformance.catalogue import load
    from conformance.oracle import watched_obligations
    from conformance.protocol.versions import VERSIONS
    from conformance.reporting.listing import Listed, as_json, plain_lines, print_list, summary
    from conformance.reporting.live import console_for
    from conformance.running.coverage import in_features

    catalogue = load()
    themes = _chosen("--theme", theme, catalogue.themes)
    levels = _chosen("--level", [word.lower() for word in level or ()], ("must", "should", "may"))
    provocations = _chosen("--provocation", provocation, sorted({o.provocation for o in catalogue}))
    subjects = _chosen("--subject", subject, sorted({o.subject for o in catalogue}))
    _chosen("--protocol", [protocol] if protocol else None, VERSIONS)
    judges = {"scenario": in_features(), "oracle": watched_obligations()}
    listed = [
        entry
        for obligation in catalogue
        if obligation.theme in themes
        and obligation.level.lower().removesuffix(" not") in levels
        and obligation.provocation in provocations
        and obligation.subject in subjects
        and (protocol is None or obligation.applies(protocol))
        and _mentions(obligation, text or ())
        for entry in [Listed(obligation, tuple(name for name, ids in judges.items() if obligation.id in ids))]
        if covered is None or covered == bool(entry.judges)
    ]
    console = console_for(sys.stdout)
    if json:
        _print_json(as_json(listed))
    elif plain or not console.is_terminal:
        sys.stdout.writelines(f"{line}\n" for line in plain_lines(listed))
        typer.echo(summary(listed), err=True)
    else:
        print_list(listed, console)


@app.command()
def explain(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Obligations, such as AHP-TOOLAUTH-022.")],
    json: AsJson = False,
) -> None:
    """All there is to know about obligations: the rule, what is observed, who judges it, how to run just that."""
    from conformance.catalogue import load
    from conformance.reporting.explanation import as_json, print_explanation
    from conformance.reporting.live import console_for

    from .explaining import explanations

    catalogue = load()
    asked = [_known(name, catalogue) for name in ids]
    wrong = [problem for _, problem in asked if problem]
    if wrong:
        stop("; ".join(wrong), USAGE)
    explained = explanations(dict.fromkeys(id_ for id_, _ in asked), catalogue)
    console = console_for(sys.stdout)
    if json:
        _print_json([as_json(explanation) for explanation in explained])
        return
    for number, explanation in enumerate(explained):
        if number:
            console.print()
            console.print()
        print_explanation(explanation, console)


@catalogue_app.command()
def drift(
    checkout: Annotated[
        Path, typer.Argument(metavar="SPEC_CHECKOUT", help="A checkout of the specification, or its git directory.")
    ],
    at: Annotated[str | None, typer.Option(metavar="REV", help="Read this revision, not the work tree.")] = None,
    kept: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The kept digests. Default: those of this edition.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Keep the digests of this checkout from now on.")] = False,
    json: AsJson = False,
) -> None:
    """Compare the specification with the text that the catalogue was read from.

    Exit code 0: no drift, 1: drift, 2: wrong usage.
    """
    from conformance.catalogue import load
    from conformance.catalogue.checkout import CheckoutError, read_specification
    from conformance.catalogue.drift import KEPT, find_drift, read_kept, write_kept
    from conformance.reporting.drifting import as_json, print_drift
    from conformance.reporting.live import console_for

    place = kept or KEPT
    try:
        specification = read_specification(checkout, at)
        if update:
            count = write_kept(specification, place)
            typer.echo(f"{place}: {count} sections of {specification.name} are kept")
            return
        found = find_drift(load(), specification, read_kept(place))
    except (CheckoutError, ValueError) as error:
        stop(str(error), USAGE)
    except OSError as error:
        stop(f"{error.filename or place}: {error.strerror or error}", USAGE)
    if json:
        _print_json(as_json(found))
    else:
        print_drift(found, console_for(sys.stdout))
    raise typer.Exit(1 if found.differences else 0)


def _chosen(option: str, values: Sequence[str] | None, valid: Iterable[str]) -> frozenset[str]:
    """The values of a filter, or all valid ones. Ends the command for a value that is none of them."""
    allowed = tuple(valid)
    for value in values or ():
        if value not in allowed:
            stop(f"{option} {value} is none of {', '.join(allowed)}", USAGE)
    return frozenset(values or allowed)


def _mentions(obligation: Obligation, words: Iterable[str]) -> bool:
    text = "\n".join(
        (obligation.id, obligation.statement, obligation.observe, obligation.gate or "", obligation.source)
    ).lower()
    return all(word.lower() in text for word in words)


def _known(name: str, catalogue: Catalogue) -> tuple[str, str | None]:
    """An id as the catalogue writes it, or what is wrong with it."""
    id_ = name.upper() if name.upper().startswith("AHP-") else f"AHP-{name.upper()}"
    if id_ in catalogue:
        return id_, None
    from difflib import get_close_matches

    every = [*catalogue.obligations, *(merged for obligation in catalogue for merged in obligation.merged)]
    near = get_close_matches(id_, every, n=3, cutoff=0.75)
    hint = f"did you mean {' or '.join(near)}?" if near else "ahp-conformance list shows all"
    return id_, f"no obligation has the id {name}; {hint}"


def _print_json(value: Any) -> None:
    import orjson

    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")
