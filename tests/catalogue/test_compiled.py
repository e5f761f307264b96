"""The catalogue loads without parsing YAML, and never from anything but the texts that lie there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from conformance.catalogue import CatalogueError, compiled, load
from conformance.catalogue.compiled import NAME, SCHEMA, Themes, digest, key, parse, store, theme_texts, themes

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small catalogue of two themes."""
    place = tmp_path / "catalogue"
    place.mkdir()
    (place / SCHEMA).write_text("{}", "utf-8")
    (place / "rpc.yaml").write_text("- id: AHP-RPC-001\n", "utf-8")
    (place / "turns.yaml").write_text("- id: AHP-TURN-001\n", "utf-8")
    return place


def accept(entries: Themes) -> None:
    """A check that finds nothing."""


def refuse(entries: Themes) -> None:
    raise CatalogueError("parsed")


def test_what_was_parsed_once_is_read_back(folder: Path, tmp_path: Path) -> None:
    cached = tmp_path / "cache" / NAME
    texts = theme_texts(folder)
    first = themes(texts, accept, folder, cached)
    assert first == {"rpc": [{"id": "AHP-RPC-001"}], "turns": [{"id": "AHP-TURN-001"}]}
    assert themes(texts, refuse, folder, cached) == first
    assert [path.name for path in cached.parent.iterdir()] == [NAME]


def test_a_change_of_a_theme_a_name_or_the_schema_is_seen_at_once(folder: Path, tmp_path: Path) -> None:
    cached = tmp_path / NAME
    themes(theme_texts(folder), accept, folder, cached)
    (folder / "rpc.yaml").write_text("- id: AHP-RPC-002\n", "utf-8")
    assert themes(theme_texts(folder), accept, folder, cached)["rpc"] == [{"id": "AHP-RPC-002"}]
    (folder / "rpc.yaml").rename(folder / "rpcs.yaml")
    assert list(themes(theme_texts(folder), accept, folder, cached)) == ["rpcs", "turns"]
    (folder / SCHEMA).write_text('{"type": "array"}', "utf-8")
    with pytest.raises(CatalogueError, match="parsed"):
        themes(theme_texts(folder), refuse, folder, cached)


def test_entries_that_are_wrong_are_never_kept(folder: Path, tmp_path: Path) -> None:
    cached = tmp_path / NAME
    with pytest.raises(CatalogueError):
        themes(theme_texts(folder), refuse, folder, cached)
    assert not cached.exists()


@pytest.mark.parametrize("damage", [b"", b"\n", b"not json", b"{}", b"\xff\xfe"])
def test_a_damaged_file_counts_as_none(damage: bytes, folder: Path, tmp_path: Path) -> None:
    cached = tmp_path / NAME
    texts = theme_texts(folder)
    cached.write_bytes(key(texts, folder) + b"\n" + damage if damage != b"{}" else damage)
    assert themes(texts, accept, folder, cached)["rpc"] == [{"id": "AHP-RPC-001"}]
    assert themes(texts, refuse, folder, cached)["rpc"] == [{"id": "AHP-RPC-001"}]


def test_a_place_that_cannot_be_written_is_no_error(folder: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", "utf-8")
    for place in (blocked / NAME, Path(os.devnull) / NAME, None):
        assert themes(theme_texts(folder), accept, folder, place)["rpc"] == [{"id": "AHP-RPC-001"}]
    assert blocked.read_text("utf-8") == "in the way"


def test_what_a_distribution_carries_comes_first_unless_it_is_old(folder: Path, tmp_path: Path) -> None:
    texts = theme_texts(folder)
    store(folder / NAME, key(texts, folder), {"rpc": [{"id": "AHP-RPC-009"}]})
    assert themes(texts, refuse, folder, tmp_path / NAME) == {"rpc": [{"id": "AHP-RPC-009"}]}
    assert not (tmp_path / NAME).exists()
    (folder / "rpc.yaml").write_text("- id: AHP-RPC-003\n", "utf-8")
    assert themes(theme_texts(folder), accept, folder, tmp_path / NAME)["rpc"] == [{"id": "AHP-RPC-003"}]


def test_many_may_write_at_once_and_each_reads_a_whole(folder: Path, tmp_path: Path) -> None:
    cached = tmp_path / NAME
    texts = {**theme_texts(folder), **{f"t{n}": "- id: AHP-T-001\n" for n in range(300)}}
    wanted = parse(texts)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: themes(texts, accept, folder, cached), range(40)))
    assert all(result == wanted for result in results)
    assert [path.name for path in tmp_path.glob("*themes*")] == [NAME]


def test_processes_that_start_together_all_load_the_same(tmp_path: Path) -> None:
    program = "from conformance.catalogue import load; c = load(); print(len(c), c.digest)"
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "prefix")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    said = [process.communicate(timeout=120) for process in started]
    catalogue = load()
    assert [out.decode().strip() for out, _ in said] == [f"{len(catalogue)} {catalogue.digest}"] * 4, said
    assert len(list((tmp_path / "prefix").rglob(NAME))) == 1


def test_a_second_process_needs_no_yaml_parser(tmp_path: Path) -> None:
    program = "import sys; from conformance.catalogue import load; load(); print('yaml' in sys.modules)"
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    said = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True, check=True, timeout=60
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "False"]


def test_the_compiled_catalogue_is_the_written_one() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in sorted(compiled.FOLDER.glob("*.yaml"))}
    written = [entry for text in texts.values() for entry in yaml.safe_load(text)]
    catalogue = load()
    assert [o.id for o in catalogue] == [entry["id"] for entry in written]
    for obligation, entry in zip(catalogue, written, strict=True):
        for name, value in entry.items():
            own = getattr(obligation, name)
            assert (list(own) if isinstance(own, tuple) else own) == value, obligation.id


def test_the_digest_of_a_run_record_is_that_of_the_texts() -> None:
    texts = theme_texts()
    assert load().digest == digest(texts)[:16]
    assert digest({**texts, "rpc": texts["rpc"] + "\n"}) != digest(texts)


def test_compiled_entries_are_json_below_one_line_that_says_what_from(folder: Path, tmp_path: Path) -> None:
    texts = theme_texts(folder)
    store(tmp_path / NAME, key(texts, folder), parse(texts))
    first, _, rest = (tmp_path / NAME).read_bytes().partition(b"\n")
    assert first == key(texts, folder)
    assert json.loads(rest) == parse(texts)
