"""The fold of a terminal channel. Source: `types/channels-terminal/reducer.ts`.

The screen is a list of parts: what a command printed belongs to its part while it runs, everything
else collects in unclassified parts. Only the last part grows.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.protocol.versions import Window

from .folding import Action, Handlers, State, Step, put, replaced, setter, unchanged

EXIT_CODE_IS_A_STATE_MEMBER: Final = Window("0.1.0", "0.9.0")
"""While this holds, an exit shows as `exitCode` of the state; later as its lifecycle."""


def _output_added(state: State, action: Action, step: Step) -> State:
    parts, data = state["content"], action["data"]
    tail = parts[-1] if parts else {}
    if tail.get("type") == "command" and not tail.get("isComplete"):
        longer = put(tail, output=tail["output"] + data)
    elif tail.get("type") == "unclassified":
        longer = put(tail, value=tail["value"] + data)
    else:
        return put(state, content=[*parts, {"type": "unclassified", "value": data}])
    return put(state, content=replaced(parts, len(parts) - 1, longer))


def _resized(state: State, action: Action, step: Step) -> State:
    return put(state, cols=action.get("cols"), rows=action.get("rows"))


def _exited(state: State, action: Action, step: Step) -> State:
    code = action.get("exitCode")
    if EXIT_CODE_IS_A_STATE_MEMBER.contains(step.version):
        return put(state, exitCode=code)
    return put(state, lifecycle=put({"status": "exited"}, exitCode=code))


def _cleared(state: State, action: Action, step: Step) -> State:
    return put(state, content=[]) if state["content"] else state


def _command_detection_available(state: State, action: Action, step: Step) -> State:
    return put(state, supportsCommandDetection=True)


def _command_executed(state: State, action: Action, step: Step) -> State:
    part: dict[str, Any] = {
        "type": "command",
        "commandId": action["commandId"],
        "commandLine": action["commandLine"],
        "output": "",
        "timestamp": action["timestamp"],
        "isComplete": False,
    }
    return put(state, content=[*state["content"], part], supportsCommandDetection=True)


def _command_finished(state: State, action: Action, step: Step) -> State:
    """Completes every part of the command; an exit code or duration that is not reported is not kept."""
    wanted, parts = action["commandId"], state["content"]
    places = [
        place for place, part in enumerate(parts) if part.get("type") == "command" and part.get("commandId") == wanted
    ]
    if not places:
        return state
    finished = list(parts)
    for place in places:
        outcome = {"exitCode": action.get("exitCode"), "durationMs": action.get("durationMs")}
        finished[place] = put(parts[place], isComplete=True, **outcome)
    return put(state, content=finished)


HANDLERS: Final[Handlers] = {
    "terminal/data": _output_added,
    "terminal/input": unchanged,
    "terminal/resized": _resized,
    "terminal/claimed": setter("claim"),
    "terminal/titleChanged": setter("title"),
    "terminal/cwdChanged": setter("cwd"),
    "terminal/exited": _exited,
    "terminal/cleared": _cleared,
    "terminal/commandDetectionAvailable": _command_detection_available,
    "terminal/commandExecuted": _command_executed,
    "terminal/commandFinished": _command_finished,
}
