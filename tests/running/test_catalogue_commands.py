"""list, explain and catalogue drift as a person or a pipe meets them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.catalogue import load
from conformance.catalogue.disputes import load_disputes
from tests.running.command import Outcome, ahp

ROOT = Path(__file__).parents[2]
FIELDS = ("id", "level", "since", "until", "theme", "provocation", "subject", "judges", "statement")


def rows(outcome: Outcome) -> list[dict[str, str]]:
    """The fields of a plain list by name."""
    assert outcome.code == 0, outcome.err
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in outcome.out.splitlines()]


def on_terminal(*arguments: str, columns: int) -> list[str]:
    """The lines that the command writes to a terminal of that width, control sequences included."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**env, "TERM": "xterm-256color"},
        cwd=ROOT,
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(controller)
    assert process.wait(60) == 0, seen
    return seen.decode().replace("\r", "").splitlines()


def stripped(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line)


# -- list -------------------------------------------------------------------------------------------------


def test_a_pipe_gets_every_obligation_whole_and_without_colour(tmp_path: Path) -> None:
    outcome = ahp("list", cwd=tmp_path)
    listed = rows(outcome)
    catalogue = load()
    assert [row["id"] for row in listed] == [o.id for o in catalogue]
    assert {row["id"]: row["statement"] for row in listed} == {o.id: o.statement for o in catalogue}
    assert "\x1b" not in outcome.out
    assert outcome.err.startswith(f"{len(catalogue)} obligations (")
    assert outcome.err.endswith(" judged by this edition\n")


def test_filters_narrow_the_list(tmp_path: Path) -> None:
    strict = rows(ahp("list", "--theme", "tool-authentication", "--level", "should", cwd=tmp_path))
    assert {row["theme"] for row in strict} == {"tool-authentication"}
    assert {row["level"] for row in strict} == {"SHOULD", "SHOULD NOT"}
    restart = rows(ahp("list", "--provocation", "restart", "--provocation", "clock", cwd=tmp_path))
    assert {row["provocation"] for row in restart} == {"restart", "clock"}
    clients = rows(ahp("list", "--subject", "client", cwd=tmp_path))
    assert {row["subject"] for row in clients} == {"client"}
    words = rows(ahp("list", "inputNeeded", "Removed", "--theme", "input-needed", cwd=tmp_path))
    assert words
    assert len(words) < len(rows(ahp("list", "--theme", "input-needed", cwd=tmp_path)))


def test_a_version_leaves_out_what_does_not_hold_in_it(tmp_path: Path) -> None:
    catalogue = load()
    for version in ("0.6.0", "0.9.0"):
        listed = {row["id"] for row in rows(ahp("list", "--protocol", version, cwd=tmp_path))}
        assert listed == {o.id for o in catalogue if o.applies(version)}


def test_covered_and_uncovered_share_the_catalogue_between_them(tmp_path: Path) -> None:
    covered = rows(ahp("list", "--covered", cwd=tmp_path))
    uncovered = rows(ahp("list", "--uncovered", cwd=tmp_path))
    assert len(covered) + len(uncovered) == len(load())
    assert {row["judges"] for row in covered} == {"scenario", "oracle", "scenario,oracle"}
    assert {row["judges"] for row in uncovered} == {"-"}
    by_id = {row["id"]: row["judges"] for row in covered}
    assert by_id["AHP-TOOLAUTH-022"] == "scenario,oracle"


def test_json_says_the_same(tmp_path: Path) -> None:
    outcome = ahp("list", "--theme", "input-needed", "--covered", "--json", cwd=tmp_path)
    listed = json.loads(outcome.out)
    plain = rows(ahp("list", "--theme", "input-needed", "--covered", cwd=tmp_path))
    assert [entry["id"] for entry in listed] == [row["id"] for row in plain]
    for entry in listed:
        obligation = load()[entry["id"]]
        assert entry["statement"] == obligation.statement
        assert "; ".join(entry["source"]) == obligation.source
        assert entry["covered"] is True
        assert entry.get("until") == obligation.until


def test_nothing_found_is_said(tmp_path: Path) -> None:
    outcome = ahp("list", "zebra", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no obligation is like that\n"


@pytest.mark.parametrize(
    ("option", "value", "valid"),
    [
        ("--theme", "chat", "chats"),
        ("--level", "shall", "must, should, may"),
        ("--provocation", "magic", "wire"),
        ("--subject", "agent", "client, host, reducer"),
        ("--protocol", "0.5.0", "0.6.0, 0.7.0, 0.8.0, 0.9.0, 1.0.0"),
    ],
)
def test_an_unknown_filter_value_is_refused_with_those_that_there_are(
    option: str, value: str, valid: str, tmp_path: Path
) -> None:
    outcome = ahp("list", option, value, cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"ahp-conformance: {option} {value} is none of ")
    assert valid in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("columns", [80, 160])
def test_a_terminal_gets_a_line_each_that_fits(columns: int) -> None:
    lines = on_terminal("list", "--theme", "chats", "--theme", "input-needed", columns=columns)
    plain = [stripped(line) for line in lines]
    assert max(map(len, plain)) <= columns
    themes = ("chats", "input-needed")
    expected = [o.id for o in load() if o.theme in themes]
    assert [line.split()[0] for line in plain if line.startswith("  AHP-")] == expected
    assert [line for line in plain if line in themes] == list(themes)
    assert any(line.endswith("…") for line in plain)
    assert any("\x1b[" in line for line in lines)
    assert any("judged by this edition" in line for line in plain)


def test_a_terminal_can_be_asked_for_plain_lines() -> None:
    lines = on_terminal("list", "--theme", "rpc", "--plain", columns=80)
    assert len([line for line in lines if line.count("\t") == len(FIELDS) - 1]) == len(
        [o for o in load() if o.theme == "rpc"]
    )


# -- explain ----------------------------------------------------------------------------------------------


def test_an_obligation_is_explained_in_full(tmp_path: Path) -> None:
    outcome = ahp("explain", "AHP-TOOLAUTH-022", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    obligation = load()["AHP-TOOLAUTH-022"]
    flat = " ".join(outcome.out.split())
    for said in (
        obligation.statement,
        "SHOULD, with that word in the text; required in the tiers tool-auth, full",
        "since 0.6.0",
        *map(str, obligation.citations),
        obligation.observe,
        str(obligation.fault),
        "features/tool-authentication/session-entry.feature:",
        "The session lists the blocked call",
        "rule tool-authentication",
        "ahp-conformance run reference --fault blocked-call-not-listed --only AHP-TOOLAUTH-022",
        "ahp-conformance run TARGET --only AHP-TOOLAUTH-022",
    ):
        assert said in flat


def test_lower_case_and_the_bare_number_are_understood(tmp_path: Path) -> None:
    whole = ahp("explain", "AHP-RPC-001", cwd=tmp_path)
    assert whole.code == 0
    assert ahp("explain", "ahp-rpc-001", cwd=tmp_path).out == whole.out
    assert ahp("explain", "rpc-001", cwd=tmp_path).out == whole.out


def test_a_merged_id_explains_where_it_went(tmp_path: Path) -> None:
    outcome = ahp("explain", "AHP-MCP-021", cwd=tmp_path)
    assert outcome.out.startswith("AHP-MCP-021 was merged into AHP-TOOLAUTH-014\nAHP-TOOLAUTH-014  MUST")


def test_a_wrong_id_is_refused_with_near_ones(tmp_path: Path) -> None:
    outcome = ahp("explain", "AHP-TOOLAUT-022", "AHP-RPC-001", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(
        "ahp-conformance: no obligation has the id AHP-TOOLAUT-022; did you mean AHP-TOOLAUTH-022 "
    )
    far = ahp("explain", "something", cwd=tmp_path)
    assert far.code == 2
    assert far.err == "ahp-conformance: no obligation has the id something; ahp-conformance list shows all\n"


def test_disputes_are_told_with_what_is_accepted(tmp_path: Path) -> None:
    disputed = next(o for o in load() if "A-13" in o.dispute)
    outcome = ahp("explain", disputed.id, "AHP-RPC-001", cwd=tmp_path)
    dispute, flat = load_disputes()["A-13"], " ".join(outcome.out.split())
    assert f"disputed A-13 · {dispute.title} " in flat
    accepted = dispute.text.rpartition("**Accepted.**")[2].split("\n\n")[0]
    assert accepted.replace("`", "").strip() in flat
    assert "**" not in outcome.out
    assert "\nAHP-RPC-001  " in outcome.out


def test_json_explains_every_obligation(tmp_path: Path) -> None:
    catalogue = load()
    outcome = ahp("explain", *catalogue.obligations, "--json", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    explained = {entry["id"]: entry for entry in json.loads(outcome.out)}
    assert explained.keys() == catalogue.obligations.keys()
    listed = {row["id"]: row["judges"] for row in rows(ahp("list", cwd=tmp_path))}
    for id_, entry in explained.items():
        assert bool(entry["scenarios"]) == ("scenario" in listed[id_]), id_
        assert bool(entry["rules"]) == ("oracle" in listed[id_]), id_
        assert ("rerun" in entry) == bool(entry["scenarios"]), id_
        assert [dispute["id"] for dispute in entry["disputes"]] == list(catalogue[id_].dispute)
    from conformance.host.faults import FAULTS

    assert {fault["name"] for entry in explained.values() for fault in entry["faults"]} == FAULTS.keys()


def test_the_command_that_is_given_runs_just_that(tmp_path: Path) -> None:
    (entry,) = json.loads(ahp("explain", "AHP-TOOLAUTH-022", "--json", cwd=tmp_path).out)
    command = entry["faults"][0]["run"].split()
    assert command[0] == "ahp-conformance"
    outcome = ahp(*command[1:], cwd=tmp_path, out=tmp_path / "out")
    assert {scenario["id"] for scenario in entry["scenarios"]} == outcome.outcomes().keys()
    assert set(outcome.outcomes().values()) == {"failed"}


# -- catalogue drift --------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small specification: one page that an obligation cites, with the version that it declares."""
    root = tmp_path / "specification"
    for name, text in (
        (
            "docs/specification/transport.md",
            "# Transport\n\n## Requirements\n\nFrames MUST arrive.\n\n## Old\n\nMAY go.\n",
        ),
        ("types/version/registry.ts", "export const PROTOCOL_VERSION = '0.6.0';\n"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def test_drift_is_told_in_text_json_and_exit_code(checkout: Path, tmp_path: Path) -> None:
    kept = ("--kept", str(tmp_path / "kept.json"))
    updated = ahp("catalogue", "drift", str(checkout), *kept, "--update", cwd=tmp_path)
    assert updated.code == 0, updated.err
    assert "4 sections of " in updated.out
    same = ahp("catalogue", "drift", str(checkout), *kept, cwd=tmp_path)
    assert same.code == 0, same.out
    assert same.out.splitlines()[-1].startswith("no drift: ")
    assert "Not in this checkout by design" in same.out
    assert "  since 0.9.0: " in same.out

    page = checkout / "docs" / "specification" / "transport.md"
    text = (
        page.read_text("utf-8")
        .replace("arrive", "arrive in order")
        .replace("## Old\n\nMAY go.", "## New\n\nMUST come.")
    )
    page.write_text(text, "utf-8")
    drifted = ahp("catalogue", "drift", str(checkout), *kept, cwd=tmp_path)
    assert drifted.code == 1
    for said in ("(1)\n  docs/specification/transport.md\n    Requirements\n", "    Old\n", "    New\n"):
        assert said in drifted.out
    assert drifted.out.splitlines()[-1].startswith("drift: 1 changed, 1 vanished, 1 new, which concern ")
    found = json.loads(ahp("catalogue", "drift", str(checkout), *kept, "--json", cwd=tmp_path).out)
    assert [entry["place"] for kind in ("changed", "vanished", "new") for entry in found[kind]] == [
        "Requirements",
        "Old",
        "New",
    ]
    assert (found["version"], found["kept"]) == ("0.6.0", "0.6.0")
    citing = [o.id for o in load() if "docs/specification/transport.md > Requirements" in o.source]
    assert found["changed"][0]["obligations"] == citing

    assert ahp("catalogue", "drift", str(checkout), *kept, "--update", cwd=tmp_path).code == 0
    assert ahp("catalogue", "drift", str(checkout), *kept, cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere is not a directory"),
        ((".",), "is no checkout of the specification"),
        ((".", "--at", "HEAD"), "git"),
        (("specification", "--kept", "absent.json"), "absent.json: No such file or directory"),
        (("specification", "--kept", "specification/types/version/registry.ts"), "is no file of kept sections"),
        (("specification", "--kept", "specification", "--update"), "specification: "),
    ],
)
def test_what_cannot_be_compared_is_wrong_usage(
    arguments: tuple[str, ...], said: str, checkout: Path, tmp_path: Path
) -> None:
    outcome = ahp("catalogue", "drift", *arguments, cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.err.startswith("ahp-conformance: ")
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_help_needs_nothing_that_takes_time_to_import(tmp_path: Path) -> None:
    program = (
        "import sys; import conformance.cli;"
        "print(sorted({'rich', 'yaml', 'orjson', 'pytest', 'conformance.catalogue'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
    for command in (("--help",), ("list", "--help"), ("explain", "--help"), ("catalogue", "drift", "--help")):
        assert ahp(*command, cwd=tmp_path).code == 0
