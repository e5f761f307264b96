"""What has to be known about VS Code's Copilot agent to control it: its own tools, and how it is told not to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.backend.lexicon import Lexicon, Template
from conformance.drivers.scripted import Knowledge

# A shell command that only prints is let through without asking; one that runs a program may do anything.
_PRINTS: Final = {"command": "echo {tool}", "description": "Print a word"}
_RUNS: Final = {"command": "python3 -c 'print(1)'", "description": "Run a program"}

LEXICON: Final = Lexicon(
    plain=Template("bash", _PRINTS),
    confirmed=Template("bash", _RUNS),
    # None of its own tools reports a failure for certain: a command that exits with 3 counts as a success.
    failing=None,
    ask=Template("ask_user", {"question": "{message}", "choices": "{choices}", "allow_freeform": True}),
)

# The host takes this into account when a session begins; for one that is about to begin it is too late to say it.
SESSION_CONFIG: Final = {"autoApprove": "autoApprove"}


def knowledge(tokens: Mapping[str, str], *, oauth: bool) -> Knowledge:
    """How the agent is controlled. tokens: those that its own resources take; oauth: it reads OAuth clients."""
    return Knowledge(
        lexicon=LEXICON,
        route="plugin",
        approvals={"asked": {"autoApprove": "default"}, "unasked": {"autoApprove": "autoApprove"}},
        # Tools that have to be searched for are not offered to the model; the server of GitHub is none of ours.
        root={"toolSearchEnabled": False, "githubMcpServerEnabled": False},
        plays=frozenset({"confirm", "fails", "with"}) | ({"oauth_client"} if oauth else set()),
        tokens=tokens,
    )
