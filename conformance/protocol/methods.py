"""Every method: who calls it, whether it is answered, its channel, and the types of params and result.

Source: `types/common/messages.ts` (command and notification maps) and the commands of each channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from .versions import Window

Direction = Literal["client", "host", "both"]
Form = Literal["request", "notification"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method.

    direction: who sends it. channel: kind of the channel its params must name, "any" when several.
    params_type, result_type: type names for `violations`; result_type is None for notifications.
    """

    name: str
    direction: Direction
    form: Form
    window: Window
    channel: str
    params_type: str
    result_type: str | None


def _request(
    name: str, since: str, channel: str, params: str, result: str = "Null", direction: Direction = "client"
) -> Method:
    return Method(name, direction, "request", Window(since), channel, params, result)


def _note(name: str, since: str, channel: str, params: str, direction: Direction = "host") -> Method:
    return Method(name, direction, "notification", Window(since), channel, params, None)


_TABLE: Final = (
    _request("initialize", "0.1.0", "root", "InitializeParams", "InitializeResult"),
    _request("ping", "0.1.0", "root", "PingParams"),
    _request("reconnect", "0.1.0", "root", "ReconnectParams", "ReconnectResult"),
    _request("subscribe", "0.1.0", "any", "SubscribeParams", "SubscribeResult"),
    _request("listSessions", "0.1.0", "root", "ListSessionsParams", "ListSessionsResult"),
    _request("resolveSessionConfig", "0.1.0", "root", "ResolveSessionConfigParams", "ResolveSessionConfigResult"),
    _request(
        "sessionConfigCompletions",
        "0.1.0",
        "root",
        "SessionConfigCompletionsParams",
        "SessionConfigCompletionsResult",
    ),
    _request("createSession", "0.1.0", "session", "CreateSessionParams"),
    _request("disposeSession", "0.1.0", "session", "DisposeSessionParams"),
    _request("createChat", "0.4.0", "session", "CreateChatParams"),
    _request("disposeChat", "0.4.0", "chat", "DisposeChatParams"),
    _request("moveChat", "1.0.0", "chat", "MoveChatParams", "MoveChatResult"),
    _request("fetchTurns", "0.1.0", "chat", "FetchTurnsParams", "FetchTurnsResult"),
    _request("completions", "0.1.0", "chat", "CompletionsParams", "CompletionsResult"),
    _request("authenticate", "0.1.0", "root", "AuthenticateParams", "AuthenticateResult"),
    _request("createTerminal", "0.1.0", "terminal", "CreateTerminalParams"),
    _request("disposeTerminal", "0.1.0", "terminal", "DisposeTerminalParams"),
    _request(
        "invokeChangesetOperation",
        "0.2.0",
        "changeset",
        "InvokeChangesetOperationParams",
        "InvokeChangesetOperationResult",
    ),
    _request("resourceRead", "0.1.0", "root", "ResourceReadParams", "ResourceReadResult", "both"),
    _request("resourceWrite", "0.1.0", "root", "ResourceWriteParams", "ResourceWriteResult", "both"),
    _request("resourceList", "0.1.0", "root", "ResourceListParams", "ResourceListResult", "both"),
    _request("resourceCopy", "0.1.0", "root", "ResourceCopyParams", "ResourceCopyResult", "both"),
    _request("resourceMove", "0.1.0", "root", "ResourceMoveParams", "ResourceMoveResult", "both"),
    _request("resourceDelete", "0.1.0", "root", "ResourceDeleteParams", "ResourceDeleteResult", "both"),
    _request("resourceRequest", "0.1.0", "root", "ResourceRequestParams", "ResourceRequestResult", "both"),
    _request("resourceResolve", "0.2.0", "root", "ResourceResolveParams", "ResourceResolveResult", "both"),
    _request("resourceMkdir", "0.2.0", "root", "ResourceMkdirParams", "ResourceMkdirResult", "both"),
    _request(
        "createResourceWatch",
        "0.2.0",
        "root",
        "CreateResourceWatchParams",
        "CreateResourceWatchResult",
        "both",
    ),
    _request("runAutomation", "0.9.0", "automations", "RunAutomationParams", "RunAutomationResult"),
    _request(
        "fetchAutomationRuns",
        "0.9.0",
        "automations",
        "FetchAutomationRunsParams",
        "FetchAutomationRunsResult",
    ),
    _request(
        "listAutomationTriggerDefinitions",
        "0.9.0",
        "root",
        "ListAutomationTriggerDefinitionsParams",
        "ListAutomationTriggerDefinitionsResult",
    ),
    _note("unsubscribe", "0.1.0", "any", "UnsubscribeParams", "client"),
    _note("dispatchAction", "0.1.0", "any", "DispatchActionParams", "client"),
    _note("action", "0.1.0", "any", "ActionEnvelope"),
    _note("root/sessionAdded", "0.1.0", "root", "SessionAddedParams"),
    _note("root/sessionRemoved", "0.1.0", "root", "SessionRemovedParams"),
    _note("root/sessionSummaryChanged", "0.1.0", "root", "SessionSummaryChangedParams"),
    _note("root/progress", "0.5.0", "root", "ProgressParams"),
    _note("auth/required", "0.1.0", "any", "AuthRequiredParams"),
    _note("otlp/exportLogs", "0.2.0", "telemetry", "OtlpExportLogsParams"),
    _note("otlp/exportTraces", "0.2.0", "telemetry", "OtlpExportTracesParams"),
    _note("otlp/exportMetrics", "0.2.0", "telemetry", "OtlpExportMetricsParams"),
)

METHODS: Final[Mapping[str, Method]] = MappingProxyType({method.name: method for method in _TABLE})
"""Every method known to any version, by its wire name."""


def is_known_method(name: str, version: str) -> bool:
    """Whether the version has this method, in either direction."""
    method = METHODS.get(name)
    return method is not None and method.window.contains(version)
