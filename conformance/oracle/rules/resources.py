"""Resource commands, answer by answer: encodings, names, codes, and who is asked for what a client has published."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Request
from conformance.protocol import compare

# What is binary by its type; a type made of XML is text, and hosts that go by the ending take TypeScript for a film.
_BINARY = re.compile(r"^(image|audio|video|font)/(?!.*\+xml)(?!mp2t)", re.IGNORECASE)
_MANGLED = "\N{REPLACEMENT CHARACTER}"
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# What a URI has to have before its first colon.
_NAMELESS = re.compile(r"^\s*:")


class ResourceAnswers(Rule):
    """What a single answer to a resource command shows."""

    name = "resource-answers"
    obligations = (
        "AHP-ERR-101",
        "AHP-RES-001",
        "AHP-RES-003",
        "AHP-RES-004",
        "AHP-RES-021",
        "AHP-RES-042",
        "AHP-RES-055",
    )

    def reply(self, reply: Reply) -> None:
        request, version = reply.request, self.version(reply.conn)
        if request is None or version is None:
            return
        if reply.failed:
            self._code(reply, version)
            return
        uri = text(member(request.params, "uri"))
        if request.method.startswith("resource") and uri is not None and _NAMELESS.match(uri):
            self._find("AHP-RES-055", "a text that is no URI is served as one", "an error", reply)
        if request.method == "resourceRead":
            self._read(reply, member(request.params, "encoding"))
        elif request.method == "resourceList":
            self._listed(reply)
        elif request.method == "resourceResolve" and member(request.params, "followSymlinks") is False:
            self._link(reply, uri)

    def _code(self, reply: Reply, version: str) -> None:
        assert reply.request is not None
        uri = text(member(reply.request.params, "uri"))
        if reply.request.method.startswith("resource") and uri is not None and _NAMELESS.match(uri):
            self.watch("AHP-RES-055")
        if compare(version, "0.9.0") < 0:
            return
        code = whole(member(reply.error, "code"))
        # Any request that finds nothing puts the rule to the test.
        if code in (-32006, -32008):
            self.watch("AHP-ERR-101")
        if code == -32006:
            self._find("AHP-ERR-101", "a code that is not used any more", "-32008", reply)

    def _read(self, reply: Reply, asked: Any) -> None:
        data, encoding = member(reply.result, "data"), member(reply.result, "encoding")
        # Whether the encoding is one of the two is a matter of shape.
        self.watch(*(["AHP-RES-005"] if asked not in (None, "base64", "utf-8") else []))
        if encoding not in ("base64", "utf-8") or not isinstance(data, str):
            return
        self.watch("AHP-RES-001")
        content = decoded(data, encoding)
        kind = text(member(reply.result, "contentType")) or ""
        binary = _BINARY.match(kind) is not None
        if content is None:
            self._find("AHP-RES-001", "content that is not in its encoding", f"data in {encoding}", reply)
        elif encoding == "base64":
            if binary or not _is_text(content):
                self.watch("AHP-RES-003")
            elif asked == "utf-8" and content:
                self._find("AHP-RES-004", "text is delivered otherwise than asked for", "encoding utf-8", reply)
            elif asked == "base64":
                self.watch("AHP-RES-004")
        else:
            if binary and _MANGLED in data:
                self._find("AHP-RES-003", f"{kind} is delivered as text", "encoding base64", reply)
            if asked == "utf-8":
                self.watch("AHP-RES-004")
            elif asked == "base64" and content:
                self._find("AHP-RES-004", "content is delivered otherwise than asked for", "encoding base64", reply)

    def _listed(self, reply: Reply) -> None:
        names = [text(entry.get("name")) for entry in dicts(member(reply.result, "entries"))]
        if not names:
            return
        self.watch("AHP-RES-021")
        wrong = [name for name in names if name is not None and (name in ("", ".", "..") or "/" in name)]
        if wrong or len(set(names)) < len(names):
            self._find("AHP-RES-021", "an entry that is no name of a child, or twice", "each child once", reply)

    def _link(self, reply: Reply, uri: str | None) -> None:
        """A link that is not followed, and what is none, has the URI asked for."""
        shown = text(member(reply.result, "uri"))
        if uri is None or shown is None:
            return
        self.watch("AHP-RES-042")
        if plain(shown) != plain(uri):
            self._find("AHP-RES-042", "the place of a link is another one than asked for", uri, reply)

    def _find(self, obligation: str, message: str, expected: str, reply: Reply) -> None:
        assert reply.request is not None
        seen = {"params": reply.request.params, "result": reply.result, "error": reply.error}
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)


class Published(Rule):
    """What a client has published is asked for at that client."""

    name = "published-plugins"
    obligations = ("AHP-AUTOM-126", "AHP-RES-056")
    hears = frozenset({"session/activeClientSet"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Plugin -> the clients that published it.
        self._publishers: Bounded[str, set[str]] = Bounded()
        # Client and plugin of which it sent back what it had received, and which it need not be able to serve.
        self._returned: Bounded[tuple[str, str], None] = Bounded()

    def envelope(self, envelope: Envelope) -> None:
        client = envelope.get("activeClient")
        owner = text(member(client, "clientId"))
        if envelope.accepted and owner is not None:
            self._learn(owner, client)

    def snapshot(self, snapshot: Any) -> None:
        if snapshot.kind == "session":
            for client in dicts(member(snapshot.state, "activeClients")):
                self._learn(text(client.get("clientId")), client)

    def dispatch(self, dispatch: Any) -> None:
        kind = text(member(dispatch.action, "type"))
        if dispatch.client_id is None:
            return
        if kind == "session/activeClientSet":
            self._learn(dispatch.client_id, member(dispatch.action, "activeClient"))
        elif kind in ("automation/createRequested", "automation/updateRequested"):
            definition = member(dispatch.action, "definition") or member(dispatch.action, "changes")
            known = self._captured(dispatch)
            for plugin in dicts(member(member(definition, "session"), "customizations")):
                if _identity(plugin) in known:
                    self._returned[(dispatch.client_id, text(plugin.get("uri")) or "")] = None
                    self.watch("AHP-AUTOM-126")
                else:
                    self._learn(dispatch.client_id, {"customizations": [plugin]})

    def _captured(self, dispatch: Any) -> list[Any]:
        """The plugins that the automation of an update has copies of already."""
        view = self.tracker.connection(dispatch.conn).channels.get(dispatch.channel)
        resource = member(dispatch.action, "resource")
        entries = dicts(member(view.state, "entries")) if view is not None and view.live else []
        templates = [
            member(entry.get("definition"), "session") for entry in entries if entry.get("resource") == resource
        ]
        return [_identity(plugin) for each in templates for plugin in dicts(member(each, "customizations"))]

    def request(self, request: Request) -> None:
        if request.method == "createSession":
            client = member(request.params, "activeClient")
            self._learn(self.tracker.connection(request.conn).client_id, client)

    def _learn(self, owner: str | None, value: Any) -> None:
        for plugin in dicts(member(value, "customizations")):
            uri = text(plugin.get("uri"))
            if uri is not None and owner is not None and is_clients_own(uri):
                self._publishers.setdefault(uri, set()).add(owner)

    def _ask_again(self, request: Request, plugin: str) -> None:
        self.find(
            "AHP-AUTOM-126",
            "a client is asked for a plugin of which there is a copy",
            expected=f"the copy of {plugin}",
            seen=request.frame.msg,
            frame=request.frame.n,
        )

    def host_request(self, request: Request) -> None:
        uri, client = text(member(request.params, "uri")), self.tracker.connection(request.conn).client_id
        if not request.method.startswith("resource") or uri is None or client is None:
            return
        for owner, plugin in self._returned:
            if owner == client and lies_in(uri, plugin) and client not in self._publishers.get(plugin, ()):
                self._ask_again(request, plugin)
        owners = [owners for plugin, owners in self._publishers.items() if lies_in(uri, plugin)]
        if not owners:
            return
        self.watch("AHP-RES-056")
        # A client that was there before the recording began may have published it then.
        known = self.tracker.whole or self.tracker.connection(request.conn).began
        if known and not any(client in each for each in owners):
            self.find(
                "AHP-RES-056",
                "another client is asked for what this one has published",
                expected=sorted(owners[0]),
                seen=request.frame.msg,
                frame=request.frame.n,
            )


def _identity(plugin: Any) -> list[Any]:
    return [plugin.get("id"), plugin.get("uri"), plugin.get("nonce")]


def decoded(data: Any, encoding: Any) -> bytes | None:
    """The bytes of a content; None when the data are not in the encoding."""
    if not isinstance(data, str):
        return None
    if encoding == "utf-8":
        return data.encode("utf-8", "surrogatepass")
    try:
        # Some leave the padding out.
        bare = data.rstrip("=")
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def plain(uri: str) -> str:
    """A URI in the form in which two ways to write one place are equal, as far as that can be told."""
    parts = urlsplit_safely(uri)
    path = unquote(parts[2]).rstrip("/")
    return f"{parts[0]}://{parts[1].lower().removeprefix('localhost')}{path}".lower()


def urlsplit_safely(uri: str) -> tuple[str, str, str]:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "", "", uri
    return parts.scheme, parts.netloc, parts.path


def is_clients_own(uri: str) -> bool:
    """Whether nobody but the client can read a URI: its scheme is none that a host knows by itself."""
    scheme = uri.partition(":")[0].lower()
    return ":" in uri and scheme not in ("http", "https", "file", "git", "ssh", "npm", "data") and len(scheme) > 1


def lies_in(uri: str, folder: str) -> bool:
    return uri == folder or uri.startswith(folder.rstrip("/") + "/")


def _is_text(content: bytes) -> bool:
    """Whether everybody would call it text: UTF-8 without control characters."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return _NEVER_IN_TEXT.search(content) is None
