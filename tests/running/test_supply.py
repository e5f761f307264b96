"""How MCP servers come to a host: by a file in the working folder of the session, and in the host's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
import pytest

from conformance.backend.lexicon import Lexicon
from conformance.client import Unreached
from conformance.drivers.reference import ReferenceDriver
from conformance.drivers.scripted import Knowledge, Route, Scripted
from conformance.running.runner import build_theatre
from conformance.running.settings import Settings
from conformance.running.stage import Stage
from conformance.running.supply import Supply

JSON = Any
OAUTH = {"clientId": "ours"}


class Scene:
    """The reference host, a client with a session, and the supply of a scenario."""

    def __init__(self, route: Route, version: str) -> None:
        self.driver = ReferenceDriver(protocol=version)
        self.driver.start()
        self.scripted = Scripted(Knowledge(Lexicon(), route=route))
        self.scripted.start()
        self.stage = Stage(build_theatre(self.driver, Settings(offers=(version,), patience=5.0)))
        self.supply = Supply(self.stage, self.scripted)
        self.client = self.stage.join()
        self.session = self.stage.new_session_uri()
        self.members = self.supply.members(self.session)
        self.client.succeed("createSession", channel=self.session, provider="scripted", **self.members)
        self.client.subscribe(self.session)

    def need(self, *names: str) -> dict[str, JSON]:
        """Bring servers of these names, and give what stands in the file; the first has an OAuth client."""
        moves: list[JSON] = [{"mcp": {"server": name, "challenge": _challenge(name == names[0])}} for name in names]
        self.supply.bring(self.session, list(self.supply.set_up(moves)))
        value: dict[str, JSON] = orjson.loads((self.folder / ".mcp.json").read_bytes())["mcpServers"]
        return value

    @property
    def folder(self) -> Path:
        named = self.members.get("workingDirectory") or self.members["workingDirectories"][0]
        return Path(unquote(urlsplit(named).path))

    def end(self) -> None:
        self.supply.close()
        self.stage.conclude(witness=False)
        self.driver.stop()
        self.scripted.stop()


def _challenge(has_client: bool) -> JSON:
    return {"status": 401, "accept": [], **({"oauth_client": OAUTH} if has_client else {})}


@pytest.fixture(params=["0.6.0", "0.9.0"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    scene = Scene("workspace", request.param)
    try:
        yield scene
    finally:
        scene.end()


def test_a_file_in_the_working_folder_names_the_servers(scene: Scene) -> None:
    file = scene.need("vault", "registry")
    url = scene.supply.server("vault").url
    assert file["vault"] == {"type": "http", "url": url, "oauth": OAUTH}
    assert file["registry"] == {"type": "http", "url": scene.supply.server("registry").url}
    assert [path.name for path in scene.folder.iterdir()] == [".mcp.json"]


def test_the_folder_goes_with_the_scenario(scene: Scene) -> None:
    scene.need("vault")
    scene.supply.close()
    assert not scene.folder.exists()


def test_a_host_that_does_not_notice_a_change_is_not_judged_by_it(scene: Scene) -> None:
    scene.need("vault")
    scene.client.patience = 0.3
    with pytest.raises(Unreached, match=r"did not take up the changed \.mcp\.json") as missing:
        scene.need("vault", "registry")
    assert missing.value.code == "backend-missing"


def test_a_session_that_was_created_without_a_folder_has_no_place_for_servers(scene: Scene) -> None:
    with pytest.raises(Unreached, match="without a folder"):
        scene.supply.bring("ahp-session:/other", ["vault"])


def test_the_configuration_of_the_host_names_the_servers() -> None:
    scene = Scene("root-config", "0.9.0")
    try:
        assert scene.members == {}
        # This one has no configuration, and says so.
        with pytest.raises(Unreached, match="does not take MCP servers in its configuration") as missing:
            scene.supply.bring(scene.session, list(scene.supply.set_up([{"mcp": {"server": "vault"}}])))
        assert missing.value.code == "backend-missing"
        sent = [
            f.msg["params"] for f in scene.stage.frames if f.dir == "out" and f.msg.get("method") == "dispatchAction"
        ]
        entry = {"type": "http", "url": scene.supply.server("vault").url}
        action = {"type": "root/configChanged", "config": {"mcpServers": {"vault": entry}}}
        assert [(params["channel"], params["action"]) for params in sent] == [("ahp-root://", action)]
    finally:
        scene.end()
