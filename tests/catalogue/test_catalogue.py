"""The catalogue is sound, and the two themes at the heart are judged in full."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.catalogue import TIERS, Catalogue, demanded, highest_tier, load, required
from conformance.oracle import watched_obligations
from conformance.running.coverage import covered, in_features

ROOT = Path(__file__).parents[2]

# Obligations of the host that nothing here judges, with the reason.
NOT_JUDGED: dict[str, str] = {
    "AHP-TOOLAUTH-051": "needs a host that also negotiates a version below 0.6.0; the suite offers none, as its rules"
    " begin with 0.6.0",
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def test_every_reference_leads_somewhere(catalogue: Catalogue) -> None:
    themes = {o.id.split("-")[1] for o in catalogue}
    for obligation in catalogue:
        for other in obligation.see:
            assert other in catalogue or other.split("-")[1] not in themes, f"{obligation.id} sees {other}"
            assert other != obligation.id


def test_ids_levels_and_windows_are_sound(catalogue: Catalogue) -> None:
    for obligation in catalogue:
        assert re.fullmatch(r"AHP-[A-Z]+-\d{3}", obligation.id)
        assert obligation.statement.endswith(".")
        assert obligation.source
        assert obligation.subject in ("host", "client", "reducer")
        assert obligation.force in ("keyword", "declarative", "derived")
        if obligation.until is not None:
            assert obligation.applies("0.6.0") or obligation.since > "0.6.0"
            assert not obligation.applies(obligation.until)


def test_merged_ids_lead_to_the_entry_they_went_into(catalogue: Catalogue) -> None:
    assert catalogue["AHP-MCP-021"].id == "AHP-TOOLAUTH-014"
    assert "AHP-MCP-021" in catalogue
    with pytest.raises(KeyError, match="AHP-NONE-001"):
        catalogue["AHP-NONE-001"]


@pytest.mark.parametrize("theme", ["tool-authentication", "input-needed"])
def test_every_host_obligation_of_the_heart_is_judged(theme: str, catalogue: Catalogue) -> None:
    judged = covered(catalogue)
    missing = [
        o.id
        for o in catalogue
        if o.theme == theme
        and o.subject == "host"
        and (o.is_must or o.is_should)
        and o.id not in judged
        and o.id not in NOT_JUDGED
    ]
    assert not missing


def test_nothing_is_excused_that_is_judged(catalogue: Catalogue) -> None:
    assert not covered(catalogue) & NOT_JUDGED.keys()
    assert all(reason and id_ in catalogue.obligations for id_, reason in NOT_JUDGED.items())


def test_features_and_rules_name_only_obligations_that_exist(catalogue: Catalogue) -> None:
    assert in_features() <= catalogue.obligations.keys()
    assert watched_obligations() <= catalogue.obligations.keys()


def test_findings_give_the_levels_of_the_catalogue(catalogue: Catalogue) -> None:
    rows = re.findall(
        r"^\| (AHP-[^|]+) \| ([^|]+) \|", (ROOT / "docs" / "findings.md").read_text("utf-8"), re.MULTILINE
    )
    assert rows
    for ids, level in rows:
        for id_ in ids.split(", "):
            obligation = catalogue[id_.strip()]
            assert level.strip() == obligation.level + ("" if obligation.decides else ", derived"), id_


def test_the_faults_that_the_docs_name_exist() -> None:
    from conformance.host.faults import FAULTS

    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"--fault ([a-z][a-z-]+)", page.read_text("utf-8"))}
    assert named
    assert named <= FAULTS.keys()


def test_tiers_contain_each_other_and_demand_the_pairing(catalogue: Catalogue) -> None:
    everything = {o.id for o in catalogue}
    sizes = [len(required(catalogue, tier, "0.6.0", everything)) for tier in TIERS]
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    pairing = catalogue["AHP-TOOLAUTH-022"]
    assert pairing.is_should
    assert demanded("tool-auth", pairing)
    assert not demanded("turns", pairing)


def test_a_derived_obligation_is_never_required(catalogue: Catalogue) -> None:
    derived = {o.id for o in catalogue if o.force == "derived"}
    assert derived
    assert not derived & required(catalogue, "full", "0.6.0", derived)


@pytest.mark.parametrize(
    ("offered", "tier"),
    [
        (set(), "core"),
        ({"turn"}, "core"),
        ({"turn", "tool"}, "turns"),
        ({"turn", "tool", "mcp"}, "turns"),
        ({"turn", "tool", "mcp", "mcp-auth"}, "tool-auth"),
    ],
)
def test_the_tier_follows_from_the_provocations(offered: set[str], tier: str) -> None:
    assert highest_tier(offered) == tier
