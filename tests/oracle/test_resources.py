"""Resource commands: single answers, and what commands that follow each other show of files."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from conformance.oracle import Oracle
from conformance.oracle.rules.files import mistakes_of, result_of
from conformance.oracle.rules.resources import decoded, is_clients_own, plain
from tests.protocol.examples import automation

from .traces import JSON, ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found

answers = Cases("resource-answers")
plugins = Cases("published-plugins")
files = Cases("files")

DIR = "file:///scratch/box"
FILE = f"{DIR}/a.txt"
NOT_FOUND, DENIED, EXISTS, CONFLICT = -32008, -32009, -32010, -32011


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def reads(t: Trace, data: JSON, encoding: JSON = "utf-8", asked: JSON = None, kind: JSON = None) -> None:
    """A reading of a file by A, in an encoding that was asked for or not."""
    params = {"uri": FILE} | ({"encoding": asked} if asked else {})
    t.call("resourceRead", {"data": data, "encoding": encoding} | ({"contentType": kind} if kind else {}), **params)


# -- single answers -----------------------------------------------------------------------------------


@answers.bad("AHP-RES-001")
def data_that_are_not_base64(t: Trace) -> None:
    t.handshake()
    reads(t, "äöü", "base64")


@answers.bad("AHP-RES-003")
def an_image_as_text(t: Trace) -> None:
    t.handshake()
    reads(t, "\ufffdPNG\r\n", kind="image/png")


@answers.bad("AHP-RES-004")
def base64_was_asked_for(t: Trace) -> None:
    t.handshake()
    reads(t, "hello", asked="base64")


@answers.bad("AHP-RES-004")
def text_as_base64(t: Trace) -> None:
    t.handshake()
    reads(t, coded(b"hello\n"), "base64", asked="utf-8")


@answers.bad("AHP-RES-021")
def a_child_twice(t: Trace) -> None:
    t.handshake()
    t.call("resourceList", {"entries": [{"name": n, "type": "file"} for n in ("a", "b", "a")]}, uri=DIR)


@answers.bad("AHP-RES-021")
def a_path_as_a_name(t: Trace) -> None:
    t.handshake()
    t.call("resourceList", {"entries": [{"name": "box/a", "type": "file"}]}, uri=DIR)


@answers.bad("AHP-RES-042")
def a_link_shown_as_its_target(t: Trace) -> None:
    t.handshake()
    t.call("resourceResolve", {"uri": f"{DIR}/target", "type": "file"}, uri=FILE, followSymlinks=False)


@answers.bad("AHP-RES-055")
def a_uri_without_a_scheme_is_read(t: Trace) -> None:
    t.handshake()
    t.call("resourceRead", {"data": "", "encoding": "utf-8"}, uri="::::")


@answers.bad("AHP-ERR-101", versions=("0.9.0", "1.0.0"))
def content_that_is_not_found_with_the_old_code(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("resourceRead", uri="ahp-content:/gone"), -32006)


@answers.good()
def the_old_code_in_an_old_version(t: Trace) -> None:
    t.handshake(version="0.6.0")
    t.error(t.ask("resourceRead", uri="ahp-content:/gone"), -32006)


@answers.good("AHP-ERR-101", versions=("0.9.0",))
def what_is_missing_has_its_code(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("resourceRead", uri=FILE), NOT_FOUND)


@answers.good("AHP-RES-001", "AHP-RES-003", "AHP-RES-004")
def encodings_as_they_should_be(t: Trace) -> None:
    t.handshake()
    reads(t, "hello")
    reads(t, coded(bytes(range(256))), "base64", asked="utf-8")
    reads(t, coded(b"hello").rstrip("="), "base64", asked="base64")
    reads(t, "hello", asked="utf-8")
    reads(t, "")


@answers.good("AHP-RES-001")
def readings_that_are_right_as_well(t: Trace) -> None:
    """A drawing that is XML, a type that is only guessed, nothing at all, and content that is hardly text."""
    t.handshake()
    reads(t, "<svg>\ufffd</svg>", kind="image/svg+xml")
    reads(t, "let a = '\ufffd'", kind="video/mp2t")
    reads(t, "", asked="base64")
    reads(t, coded(b"\x00\x01plain"), "base64", asked="utf-8")
    reads(t, coded(b"GIF89a"), "base64", asked="utf-8", kind="image/gif")


@answers.good("AHP-RES-021", "AHP-RES-042", "AHP-RES-055")
def names_links_and_refusals(t: Trace) -> None:
    t.handshake()
    t.call("resourceList", {"entries": [{"name": n, "type": "file"} for n in ("a", "A", ".b", "c d\\e")]}, uri=DIR)
    t.call("resourceResolve", {"uri": FILE, "type": "symlink"}, uri=f"{DIR}/%61.txt", followSymlinks=False)
    t.error(t.ask("resourceRead", uri="::::"), -32602)
    t.error(t.ask("resourceRead", uri="::::"), -32601)


@answers.good("AHP-RES-005")
def an_encoding_that_nobody_knows(t: Trace) -> None:
    t.handshake()
    reads(t, "hello", asked="latin1")
    t.error(t.ask("resourceRead", uri=FILE, encoding="latin1"), -32602)


@answers.good(versions=("0.9.0",))
def a_recording_without_its_beginning(t: Trace) -> None:
    reads(t, "äöü", "base64", asked="utf-8")
    t.error(t.ask("resourceRead", uri=FILE), -32006)


# -- who is asked -------------------------------------------------------------------------------------


def publishes(t: Trace, uri: str = "virtual://a/skills", conn: str = "A", to: str = "AB") -> None:
    plugin: JSON = {"type": "plugin", "id": "p", "uri": uri, "name": "p"}
    plugin |= {"enabled": True} if t.version < "0.8.0" else {}
    client = {"clientId": f"client-{conn}", "tools": [], "customizations": [plugin]}
    t.echo(SESSION, {"type": "session/activeClientSet", "activeClient": client}, conn, to)


def asks(t: Trace, uri: str, conn: str = "A") -> None:
    t.into({"jsonrpc": "2.0", "id": 900, "method": "resourceRead", "params": {"channel": ROOT, "uri": uri}}, conn)
    t.out({"jsonrpc": "2.0", "id": 900, "result": {"data": "", "encoding": "utf-8"}}, conn)


@plugins.bad("AHP-RES-056")
def another_client_is_asked(t: Trace) -> None:
    t.follow("AB", chat=None)
    publishes(t)
    asks(t, "virtual://a/skills/plugin.json", "B")


@plugins.good("AHP-RES-056")
def the_publisher_is_asked(t: Trace) -> None:
    t.follow("AB", chat=None)
    publishes(t)
    asks(t, "virtual://a/skills/SKILL.md")


@plugins.good()
def what_anybody_can_read(t: Trace) -> None:
    t.follow("AB", chat=None)
    publishes(t, "file:///plugins/one")
    asks(t, "file:///plugins/one/plugin.json", "B")
    asks(t, "virtual://somewhere/else", "B")


@plugins.good("AHP-RES-056")
def both_have_published_it(t: Trace) -> None:
    t.follow("AB", chat=None)
    publishes(t)
    publishes(t, conn="B")
    asks(t, "virtual://a/skills", "B")


@plugins.bad("AHP-RES-056", versions=("1.0.0",))
def a_plugin_of_an_automation_is_read_from_somebody_else(t: Trace) -> None:
    t.follow("AB", session=None, chat=None)
    plugin = {"type": "plugin", "id": "p", "uri": "virtual://a/nightly", "name": "p"}
    definition = {"title": "N", "session": {"customizations": [plugin]}}
    action = {"type": "automation/createRequested", "resource": "ahp-automation:/n", "definition": definition}
    t.dispatch("ahp-automations://", action)
    asks(t, "virtual://a/nightly/plugin.json", "B")


def sends_back(t: Trace, nonce: str) -> None:
    """B changes an automation of A, and sends its plugin back, or a newer one."""
    for conn in "AB":
        t.handshake(conn, automations={"customizations": {}})
    plugin = {"type": "plugin", "id": "p", "uri": "virtual://a/nightly", "name": "p", "nonce": "1"}
    known = automation()
    known["definition"]["session"] = {"customizations": [plugin]}
    known["customizations"] = [{name: v for name, v in plugin.items() if name != "nonce"} | {"uri": "file:///copies/p"}]
    t.subscribe("ahp-automations://", {"entries": [known]}, "B")
    changes = {"session": {"customizations": [{**plugin, "nonce": nonce}]}}
    action = {"type": "automation/updateRequested", "resource": known["resource"], "changes": changes}
    t.dispatch("ahp-automations://", action, "B")


@plugins.bad("AHP-AUTOM-126", versions=("1.0.0",))
def who_sends_a_plugin_back_is_asked_for_it(t: Trace) -> None:
    sends_back(t, "1")
    asks(t, "virtual://a/nightly/plugin.json", "B")


@plugins.good("AHP-AUTOM-126", versions=("1.0.0",))
def the_copy_is_kept(t: Trace) -> None:
    sends_back(t, "1")


@plugins.good("AHP-RES-056", versions=("1.0.0",))
def a_newer_plugin_is_asked_for(t: Trace) -> None:
    sends_back(t, "2")
    asks(t, "virtual://a/nightly/plugin.json", "B")


@plugins.bad("AHP-RES-056")
def a_client_of_the_snapshot(t: Trace) -> None:
    plugin: JSON = {"type": "plugin", "id": "p", "uri": "virtual://phone", "name": "p", "enabled": True}
    client = {"clientId": "phone", "tools": [], "customizations": [plugin]}
    t.follow(session=calm_session(activeClients=[client]), chat=None)
    asks(t, "virtual://phone/x")


def test_what_was_published_before_the_recording_may_be_asked_for() -> None:
    t = Trace("0.9.0")
    plugin: JSON = {"type": "plugin", "id": "p", "uri": "virtual://phone", "name": "p", "enabled": True}
    client = {"clientId": "phone", "tools": [], "customizations": [plugin]}
    t.reconnect("A", "client-A", 5, [SESSION], {"type": "replay", "actions": [], "missing": []})
    t.subscribe(SESSION, calm_session(activeClients=[client]))
    asks(t, "virtual://phone/x")
    oracle = Oracle(assumed="0.9.0")
    oracle.tracker.whole = False
    for frame in t.frames:
        oracle.feed(frame)
    oracle.end()
    assert [f for f in oracle.findings if f.rule == "published-plugins"] == []


# -- commands that follow each other ------------------------------------------------------------------


def write(t: Trace, data: str, uri: str = FILE, encoding: str = "utf-8", *, code: int = 0, **params: JSON) -> Trace:
    identity = t.ask("resourceWrite", uri=uri, data=data, encoding=encoding, **params)
    return _answer(t, identity, code, {})


def command(t: Trace, name: str, code: int = 0, result: JSON = None, **params: JSON) -> Trace:
    return _answer(t, t.ask(f"resource{name}", **params), code, {} if result is None else result)


def _answer(t: Trace, identity: int, code: int, result: JSON) -> Trace:
    if code:
        t.error(identity, code)
    else:
        t.result(identity, result)
    return t


def read(t: Trace, data: str, uri: str = FILE, encoding: str = "utf-8", *, code: int = 0) -> Trace:
    return command(t, "Read", code, {"data": data, "encoding": encoding}, uri=uri)


def resolve(t: Trace, uri: str = FILE, code: int = 0, kind: str = "file", **members: JSON) -> Trace:
    return command(t, "Resolve", code, {"uri": uri, "type": kind, **members}, uri=uri)


def lists_names(t: Trace, *names: str, uri: str = DIR, code: int = 0) -> Trace:
    return command(t, "List", code, {"entries": [{"name": name, "type": "file"} for name in names]}, uri=uri)


WRONG: dict[str, Callable[[Trace], object]] = {
    "AHP-RES-002": lambda t: (command(t, "Delete", uri=FILE), read(t, "")),
    "AHP-RES-010": lambda t: (resolve(t, code=NOT_FOUND), write(t, "x"), read(t, "", code=NOT_FOUND)),
    "AHP-RES-011": lambda t: (resolve(t, DIR, NOT_FOUND), write(t, "x")),
    "AHP-RES-012": lambda t: (write(t, "x"), write(t, "y", createOnly=True)),
    "AHP-RES-013": lambda t: (
        write(t, "x"),
        resolve(t, etag="1"),
        write(t, "yy"),
        write(t, "zzz", ifMatch="1"),
    ),
    "AHP-RES-014": lambda t: (resolve(t, etag="1"), write(t, "x", ifMatch="1", code=CONFLICT)),
    "AHP-RES-015": lambda t: (write(t, "abcdef"), write(t, "XY"), read(t, "XYcdef")),
    "AHP-RES-016": lambda t: (write(t, "abcdef"), write(t, "XY", mode="truncate", position=2), read(t, "abXYef")),
    "AHP-RES-017": lambda t: (write(t, "abcdef"), write(t, "X", mode="append", position=2), read(t, "abcdefX")),
    "AHP-RES-019": lambda t: (write(t, "éf"), write(t, "X", mode="insert", position=2), read(t, "éfX")),
    "AHP-RES-020": lambda t: (write(t, "x"), lists_names(t, uri=FILE)),
    "AHP-RES-021": lambda t: (write(t, "x"), lists_names(t, "b.txt")),
    "AHP-RES-030": lambda t: (
        write(t, "x"),
        write(t, "old", f"{DIR}/b"),
        command(t, "Copy", source=FILE, destination=f"{DIR}/b"),
        read(t, "old", f"{DIR}/b"),
    ),
    "AHP-RES-031": lambda t: (
        write(t, "x"),
        write(t, "y", f"{DIR}/b"),
        command(t, "Copy", source=FILE, destination=f"{DIR}/b", failIfExists=True),
    ),
    "AHP-RES-032": lambda t: (resolve(t, code=NOT_FOUND), command(t, "Delete", uri=FILE)),
    "AHP-RES-033": lambda t: (write(t, "x"), command(t, "Move", source=FILE, destination=f"{DIR}/b"), resolve(t)),
    "AHP-RES-034": lambda t: (write(t, "x"), command(t, "Delete", uri=DIR)),
    "AHP-RES-035": lambda t: (write(t, "x"), command(t, "Delete", uri=DIR, recursive=True), resolve(t)),
    "AHP-RES-040": lambda t: (command(t, "Delete", uri=FILE), resolve(t, kind="file", size=0)),
    "AHP-RES-041": lambda t: (write(t, "é"), resolve(t, size=1)),
    "AHP-RES-043": lambda t: (command(t, "Mkdir", uri=f"{DIR}/x/y"), lists_names(t, uri=f"{DIR}/x", code=NOT_FOUND)),
    "AHP-RES-044": lambda t: (write(t, "x"), command(t, "Mkdir", uri=FILE)),
    "AHP-RES-057": lambda t: (resolve(t, code=NOT_FOUND), write(t, "x", ifMatch="1")),
    "AHP-RES-058": lambda t: (write(t, coded(b"ab"), encoding="base64"), read(t, coded(b"ab"))),
}


def _keep(obligation: str) -> None:
    def bad(t: Trace) -> None:
        t.handshake()
        WRONG[obligation](t)

    bad.__name__ = f"wrong_{obligation[-3:]}"
    files.bad(obligation)(bad)


for _obligation in WRONG:
    _keep(_obligation)


@files.bad("AHP-RES-012")
def another_code_than_that_for_what_exists(t: Trace) -> None:
    t.handshake()
    write(t, "x")
    write(t, "y", createOnly=True, code=-32603)


@files.bad("AHP-RES-020")
def a_missing_directory_is_an_internal_error(t: Trace) -> None:
    t.handshake()
    resolve(t, DIR, NOT_FOUND)
    lists_names(t, code=-32603)


@files.bad("AHP-RES-043")
def a_directory_is_refused_because_it_is_there(t: Trace) -> None:
    t.handshake()
    command(t, "Mkdir", uri=DIR)
    command(t, "Mkdir", EXISTS, uri=DIR)


@files.good(*WRONG)
def everything_as_it_should_be(t: Trace) -> None:
    t.handshake()
    other, deep = f"{DIR}/b", f"{DIR}/x/y"
    resolve(t, code=NOT_FOUND)
    read(t, "", code=NOT_FOUND)
    write(t, "x", ifMatch="1", code=CONFLICT)
    command(t, "Copy", NOT_FOUND, source=FILE, destination=other)
    write(t, "abcdef")
    read(t, "abcdef")
    lists_names(t, "a.txt")
    lists_names(t, uri=FILE, code=-32603)
    write(t, "n", createOnly=True, code=EXISTS)
    command(t, "Mkdir", EXISTS, uri=FILE)
    for position, mode, result in (
        (2, "truncate", "abXY"),
        (None, "append", "abXYXY"),
        (2, "append", "abXYXYXY"),
        (1, "insert", "aXYbXYXYXY"),
    ):
        place: dict[str, JSON] = {} if position is None else {"position": position}
        write(t, "XY", mode=mode, **place)
        read(t, result)
    resolve(t, size=10, etag="2")
    write(t, "new", ifMatch="2")
    write(t, "no", ifMatch="2", code=CONFLICT)
    write(t, coded(b"\xff\x00"), encoding="base64")
    read(t, coded(b"\xff\x00"), encoding="base64")
    command(t, "Copy", source=FILE, destination=other)
    read(t, coded(b"\xff\x00"), other, "base64")
    command(t, "Move", EXISTS, source=FILE, destination=other, failIfExists=True)
    command(t, "Delete", -32603, uri=DIR)
    command(t, "Move", source=FILE, destination=other)
    resolve(t, code=NOT_FOUND)
    command(t, "Mkdir", uri=deep)
    command(t, "Mkdir", uri=deep)
    lists_names(t, uri=deep)
    write(t, "z", f"{deep}/z")
    command(t, "Delete", uri=deep, recursive=True)
    resolve(t, f"{deep}/z", NOT_FOUND)
    lists_names(t, uri=deep, code=NOT_FOUND)
    write(t, "below", f"{deep}/child", code=NOT_FOUND)


@files.good()
def a_name_in_other_letters(t: Trace) -> None:
    """Where small letters and capitals are the same, the old name leads there as well."""
    t.handshake()
    write(t, "x")
    command(t, "Move", source=FILE, destination=FILE.replace("a.txt", "A.TXT"))
    read(t, "x")


@files.good()
def others_were_there_in_between(t: Trace) -> None:
    """A formatter, another client, and a pause: what was known is known no more."""
    t.follow("AB", session=None, chat=None)
    write(t, "a ")
    read(t, "a\n")
    command(t, "Delete", uri=FILE)
    identity = t.ask("resourceWrite", "B", uri=FILE, data="b", encoding="utf-8")
    t.result(identity, {}, "B")
    read(t, "b")
    command(t, "Delete", uri=FILE)
    for _ in range(4):
        t.ping()
    read(t, "back")


@files.good()
def two_commands_at_once(t: Trace) -> None:
    t.handshake()
    write(t, "x")
    first, second = t.ask("resourceDelete", uri=FILE), t.ask("resourceWrite", uri=FILE, data="y", encoding="utf-8")
    t.result(second, {})
    t.result(first, {})
    read(t, "y")


@files.good()
def reasons_of_another_kind(t: Trace) -> None:
    """Somebody without access, a host without the commands, a file that is no directory, letters in both cases."""
    t.handshake()
    resolve(t, code=NOT_FOUND)
    read(t, "", code=DENIED)
    command(t, "Delete", -32601, uri=FILE)
    write(t, "x", f"{DIR}/A.txt")
    read(t, "x")
    lists_names(t, uri=FILE, code=NOT_FOUND)
    command(t, "Mkdir", uri=f"{DIR}/d")
    read(t, "", f"{DIR}/d", code=NOT_FOUND)
    lists_names(t, uri=f"{DIR}/d")


@pytest.mark.parametrize(
    ("mode", "position", "expected"),
    [
        ("truncate", None, b"XY"),
        ("truncate", 2, b"abXY"),
        ("append", None, b"abcdefXY"),
        ("append", 2, b"abcdXYef"),
        ("insert", None, b"XYabcdef"),
        ("insert", 3, b"abcXYdef"),
        ("insert", 9, None),
        ("other", 1, None),
    ],
)
def test_what_a_write_leaves(mode: str, position: int | None, expected: bytes | None) -> None:
    assert result_of(mode, position, b"abcdef", b"XY") == expected
    wrong = [content for content, _ in mistakes_of(mode, position, b"abcdef", b"XY", {"data": "XY"}, "AHP-RES-015")]
    assert expected is None or len({content for content in wrong if content != expected}) >= (mode != "truncate")


def test_positions_are_bytes() -> None:
    wrong = dict(mistakes_of("insert", 2, "éa".encode(), b"X", {"data": "X"}, "AHP-RES-019"))
    assert result_of("insert", 2, "éa".encode(), b"X") == "éXa".encode()
    assert wrong["éaX".encode()] == "AHP-RES-019"


@pytest.mark.parametrize(("data", "encoding", "expected"), [("YQ==", "base64", b"a"), ("YQ", "base64", b"a")])
def test_decoded(data: str, encoding: str, expected: bytes) -> None:
    assert decoded(data, encoding) == expected
    assert decoded("-_-_", "base64") is None and decoded(5, "utf-8") is None


def test_uris() -> None:
    assert plain("file://localhost/A%20b/") == plain("file:///a b")
    assert plain("http://[") != plain("http://]")
    assert is_clients_own("virtual://a") and not is_clients_own("C:\\a") and not is_clients_own("file:///a")


@found(answers, plugins, files)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(answers, plugins, files)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
