"""MCP servers that the suite plays for a host that really speaks MCP, and challenges for authentication as it likes.

`McpServers` is one loopback port with any number of servers; each `McpServer` has tools (`Echo`, `Held`, …), challenges
as docs/backend.md describes them, and a record of what the host asked and which tokens it sent.
"""

from .challenges import ALL_TOOLS
from .record import Seen
from .server import McpServer
from .servers import McpServers
from .tools import Add, Echo, Embedded, Fail, Held, Image, Progress, Structured, Text, Tool

__all__ = [
    "ALL_TOOLS",
    "Add",
    "Echo",
    "Embedded",
    "Fail",
    "Held",
    "Image",
    "McpServer",
    "McpServers",
    "Progress",
    "Seen",
    "Structured",
    "Text",
    "Tool",
]
