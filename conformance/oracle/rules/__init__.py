"""The rules, one module per concern."""

from conformance.oracle.rule import Rule

from .convergence import Convergence
from .delivery import Delivery, Vocabulary
from .entries import Entries
from .frames import Answers, MessageForm
from .input_needed import Leftovers, StatusBit
from .mcp import McpServers
from .origins import Origins
from .secrets import Secrets
from .sequence import Numbering, OneNumbering
from .shapes import Shapes
from .tool_auth import ToolAuthentication
from .tool_calls import ToolCallTransitions
from .turns import Turns

RULES: tuple[type[Rule], ...] = (
    MessageForm,
    Answers,
    Shapes,
    Numbering,
    OneNumbering,
    Delivery,
    Vocabulary,
    Origins,
    Turns,
    ToolCallTransitions,
    Entries,
    StatusBit,
    Leftovers,
    ToolAuthentication,
    McpServers,
    Secrets,
    Convergence,
)

__all__ = ["RULES"]
