"""Ways in which this host can be wrong, each for the one thing that the suite has to notice."""

from __future__ import annotations

from typing import Final

IGNORES_PLAYBOOK: Final = "ignores-playbook"
SKIPS_MCP: Final = "skips-mcp"
NO_PLUGINS: Final = "no-plugins"
LEAKS_TOKEN: Final = "leaks-token"
DIES: Final = "dies"

FLAWS: Final = {
    IGNORES_PLAYBOOK: "never asks the model service and says a word of its own",
    SKIPS_MCP: "lists MCP servers, but never contacts one",
    NO_PLUGINS: "does not take up what clients publish",
    LEAKS_TOKEN: "sends a token to every MCP server, not only to those of its resource",
    DIES: "ends in the middle of a turn",
}
