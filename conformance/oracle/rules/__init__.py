"""The rules, one module per concern."""

from conformance.oracle.rule import Rule

from .annotations import Annotations
from .authentication import Authentication
from .automation_entries import AutomationEntries, AutomationRuns
from .automations import AutomationRequests
from .blocked_calls import BlockedCalls
from .changeset_operations import ChangesetOperations
from .changesets import Changesets
from .channel_folds import ChannelFolds
from .chat_catalogue import ChatCatalogue
from .chat_creation import ChatCreation
from .chat_folds import ChatFolds
from .chat_messages import ChatMessages
from .chat_validation import ChatValidation
from .client_tools import ClientTools
from .content_references import ContentReferences
from .convergence import Convergence
from .customizations import Customizations
from .delivery import Delivery, Vocabulary
from .elicitation import Elicitation
from .entries import Entries
from .everyone import Everyone
from .files import Files
from .frames import Answers, MessageForm
from .input_needed import Leftovers, StatusBit
from .input_requests import InputRequests
from .mcp import McpServers, StoppedServers
from .mcp_channel import McpChannel
from .member_folds import MemberFolds
from .negotiation import Negotiation
from .offers import Offers
from .origins import Origins
from .outcomes import Outcomes
from .pending_messages import PendingMessages
from .progress import Progress
from .reconnecting import Reconnecting
from .resources import Published, ResourceAnswers
from .secrets import Secrets
from .sequence import Numbering, OneNumbering
from .session_catalogue import SessionCatalogue
from .session_folds import SessionFolds
from .session_life import SessionLife
from .shapes import Shapes
from .subscribing import Subscribing
from .telemetry import Telemetry
from .terminal_catalogue import TerminalCatalogue
from .terminal_lives import TerminalLives
from .terminal_results import TerminalResults
from .terminals import Terminals
from .tool_auth import ToolAuthentication
from .tool_calls import ToolCallTransitions
from .tool_results import ToolResults
from .turn_paging import TurnPaging
from .turns import Turns
from .unasked import Unasked
from .watches import Watches

RULES: tuple[type[Rule], ...] = (
    MessageForm,
    Answers,
    Shapes,
    Numbering,
    OneNumbering,
    Delivery,
    Vocabulary,
    Origins,
    Everyone,
    Negotiation,
    Subscribing,
    Outcomes,
    Reconnecting,
    SessionCatalogue,
    SessionLife,
    ChatCatalogue,
    ChatCreation,
    Progress,
    Authentication,
    MemberFolds,
    Turns,
    ToolCallTransitions,
    ToolResults,
    ClientTools,
    PendingMessages,
    Elicitation,
    TurnPaging,
    ChatMessages,
    ChatValidation,
    ContentReferences,
    Entries,
    StatusBit,
    Leftovers,
    InputRequests,
    ToolAuthentication,
    BlockedCalls,
    McpServers,
    StoppedServers,
    McpChannel,
    Customizations,
    ResourceAnswers,
    Published,
    Files,
    Telemetry,
    AutomationRequests,
    AutomationEntries,
    AutomationRuns,
    SessionFolds,
    Secrets,
    Convergence,
    ChatFolds,
    Annotations,
    ChangesetOperations,
    Changesets,
    ChannelFolds,
    Offers,
    TerminalCatalogue,
    TerminalLives,
    Terminals,
    Watches,
    TerminalResults,
    Unasked,
)

__all__ = ["RULES"]
