"""The real agent host of VS Code, out of an installation that AHP_CONFORMANCE_CACHE names."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from conformance.drivers.code_server import KNOWN_VERSIONS, CodeServerDriver, install
from conformance.running.diagnosis import diagnose
from conformance.running.settings import Settings

pytestmark = pytest.mark.real_host
SPOKEN = {"4.139.1": "0.9.0", "4.138.0": "0.9.0", "4.136.2": "0.9.0", "4.134.0": "0.8.0", "4.133.0": "0.8.0"}


@pytest.fixture(params=KNOWN_VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    if "AHP_CONFORMANCE_CACHE" not in os.environ:
        pytest.skip("AHP_CONFORMANCE_CACHE names no folder with an installation of code-server")
    if install.finished(install.cache_folder(), request.param) is None:
        pytest.skip(f"code-server {request.param} is not installed in AHP_CONFORMANCE_CACHE")
    return str(request.param)


def test_it_starts_takes_a_session_and_leaves_nothing(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, temp = tmp_path / "home", tmp_path / "t"
    home.mkdir()
    temp.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(temp))
    driver = CodeServerDriver(version)
    try:
        driver.start()
        found = diagnose(driver, Settings())
        assert found.version == SPOKEN[version]
        assert found.accepted == (SPOKEN[version],)
        assert [agent.provider for agent in found.agents] == [driver.provider]
        assert found.session.outcome == "created", found.session.detail
        assert psutil.Process().children(recursive=True) != []
        driver.restart()
        driver.connect().close()
    finally:
        driver.stop()
    assert psutil.Process().children(recursive=True) == []
    assert list(home.iterdir()) == []
    assert list(temp.iterdir()) == []
