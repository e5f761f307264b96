"""How the findings of ``doctor`` read: plain words, one line each, in columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.reporting.excerpt import visible
from conformance.reporting.live import console_for
from conformance.reporting.printing import indented, print_section

if TYPE_CHECKING:
    from conformance.running.diagnosis import AgentSeen, Diagnosis, Need, VersionAnswer

_LABEL = 14  # width of the first column
_STYLES = {"yes": "green", "accepted": "green", "no": "yellow", "not reachable": "bold red", "trouble": "red"}

Row = tuple[str, str, str]


def print_examination(
    endpoint: str, found: Diagnosis | None, problem: Mapping[str, str] | None, following: str, stream: TextIO
) -> None:
    """Print what was found at ``endpoint``; ``found`` is None when the host could not be reached for ``problem``."""
    console = console_for(stream)
    console.print(Text(visible(endpoint), "bold"), soft_wrap=True)
    if found is None:
        _print(console, [("reachable", "no", problem["message"] if problem else "")])
    else:
        _print(console, _host_rows(found))
        _section(console, "Protocol versions", map(_version_row, found.versions))
        if found.usable:
            _section(console, "Agents", _agent_rows(found))
            _section(console, "What the host can be made to do", _provocation_rows(found))
    console.print()
    console.print(Text.assemble(("What to do next: ", "bold"), (following, "cyan")), soft_wrap=True)


def _host_rows(found: Diagnosis) -> list[Row]:
    rows = [("reachable", "yes", "")]
    if not found.usable:
        return [*rows, ("handshake", "no", found.problem or "it failed")]
    named = " ".join(part for part in (found.name, found.host_version) if part) or "it does not say its name"
    rows.append(("host", "", named))
    rows.append(("handshake", "yes", f"of all versions it picks {found.version}"))
    session = found.session
    rows.append(("a session", "yes" if session.outcome == "created" else "no", session.detail))
    rows.append(("depth", "", f"it can be judged up to the tier {found.tier}"))
    return rows


def _version_row(answer: VersionAnswer) -> Row:
    if answer.outcome == "accepted":
        return (answer.version, "accepted", "")
    if answer.outcome == "refused":
        spoken = ", ".join(answer.supported)
        return (answer.version, "refused", f"it says that it speaks {spoken}" if spoken else "")
    return (answer.version, "trouble" if answer.outcome == "trouble" else "not asked", answer.detail)


def _agent_rows(found: Diagnosis) -> Iterable[Row]:
    if not found.agents:
        yield ("none", "", "without an agent in the root state no session can be created")
    for agent in found.agents:
        models = f"{agent.models} model{'' if agent.models == 1 else 's'}"
        yield (agent.provider, "", f"{agent.display_name}, {models}{_needs(agent)}")
    yield (
        "playbooks",
        "yes" if found.plays_playbooks else "no",
        "" if found.plays_playbooks else "the host does not say in its root state that its agent plays them",
    )


def _needs(agent: AgentSeen) -> str:
    return "".join(map(_need, agent.needs)) or ", needs no token"


def _need(need: Need) -> str:
    if need.token:
        place = "which is at hand"
    elif need.required:
        place = "which is not at hand: name one in agent_tokens of the driver (docs/drivers.md)"
    else:
        place = "which is not at hand and need not be"
    return f"; {'needs' if need.required else 'can use'} a token for {need.resource}, {place}"


def _provocation_rows(found: Diagnosis) -> Iterable[Row]:
    yield from ((name, "yes", "") for name in found.provocations)
    yield from ((each.provocation, "no", f"needs {each.remedy}") for each in found.missing)


def _section(console: Console, title: str, rows: Iterable[Row]) -> None:
    print_section(console, title)
    _print(console, rows)


def _print(console: Console, rows: Iterable[Row]) -> None:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(min_width=_LABEL, no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, answer, detail in rows:
        grid.add_row(Text(visible(label), "dim"), Text(answer, _STYLES.get(answer, "")), Text(visible(detail)))
    console.print(indented(grid, 3))
