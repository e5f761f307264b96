"""What a client answers to the requests of its host."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from conformance.client import Library
from conformance.protocol import violations
from tests.client.test_participant import Bench, host

JSON = Any
ROOT = "plugin:/one"


@pytest.fixture
def library() -> Library:
    library = Library()
    library.put(f"{ROOT}/.plugin/plugin.json", '{"name": "ä"}')
    library.put(f"{ROOT}/.mcp.json", "{}")
    return library


def test_a_file_is_read_as_it_was_put(library: Library) -> None:
    result = library.answer("resourceRead", {"uri": f"{ROOT}/.plugin/plugin.json"})["result"]
    assert not violations("0.9.0", "ResourceReadResult", result)
    assert orjson.loads(base64.b64decode(result["data"])) == {"name": "ä"}


def test_folders_are_what_the_names_of_files_imply(library: Library) -> None:
    for uri in (ROOT, f"{ROOT}/"):
        result = library.answer("resourceList", {"uri": uri})["result"]
        assert not violations("0.9.0", "ResourceListResult", result)
        assert {e["name"]: e["type"] for e in result["entries"]} == {".plugin": "directory", ".mcp.json": "file"}


@pytest.mark.parametrize(("path", "kind"), [("", "directory"), ("/.plugin", "directory"), ("/.mcp.json", "file")])
def test_what_is_there_can_be_resolved(library: Library, path: str, kind: str) -> None:
    result = library.answer("resourceResolve", {"uri": ROOT + path})["result"]
    assert not violations("0.9.0", "ResourceResolveResult", result)
    assert result["type"] == kind


@pytest.mark.parametrize("method", ["resourceRead", "resourceList", "resourceResolve"])
def test_what_is_not_there_is_not_found(library: Library, method: str) -> None:
    for uri in (f"{ROOT}/no", "plugin:/on", "other:/one"):
        assert library.answer(method, {"uri": uri})["error"]["code"] == -32008


def test_a_folder_is_no_file_and_a_file_is_no_folder(library: Library) -> None:
    assert library.answer("resourceRead", {"uri": ROOT})["error"]["code"] == -32008
    assert library.answer("resourceList", {"uri": f"{ROOT}/.mcp.json"})["error"]["code"] == -32008


@pytest.mark.parametrize("params", [None, [], {}, {"uri": 5}])
def test_a_request_without_a_uri_is_refused(library: Library, params: JSON) -> None:
    assert library.answer("resourceRead", params)["error"]["code"] == -32602


def test_the_host_gets_an_answer_to_whatever_it_asks_while_something_is_awaited() -> None:
    answers: list[JSON] = []

    def asking(bench: Bench, message: JSON) -> None:
        if "method" not in message:
            answers.append(message)
        elif message["method"] == "ping":
            bench.say({"id": 7, "method": "resourceRead", "params": {"uri": f"{ROOT}/a"}})
            bench.say({"id": "x", "method": "resourceWrite", "params": {"uri": f"{ROOT}/a"}})
            host(bench, message)
        else:
            host(bench, message)

    bench = Bench(asking)
    bench.client.library.put(f"{ROOT}/a", "text")
    bench.client.initialize(["0.6.0"])
    bench.client.fence()
    bench.client.fence()
    bench.client.wait("four answers", lambda: len(answers) == 4 or None)
    assert [a["id"] for a in answers] == [7, "x", 7, "x"]
    assert base64.b64decode(answers[0]["result"]["data"]) == b"text"
    assert answers[1]["error"]["code"] == -32601
