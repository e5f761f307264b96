"""Finding the definition of a step: once for each text, and exactly one.

pytest-bdd asks pytest for every fixture there is, for every step of every scenario, and takes one of those that match.
All steps of the suite are visible to all scenarios, so one look for each text is enough; that it costs more than the
step itself otherwise is one reason, and that two definitions for one text are a mistake which nobody would notice is
the other.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from typing import Any

from pytest_bdd.parsers import parse, string
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

_LITERAL = re.compile(r"[^{<\\(\[.*+?^$|]*")


class StepError(Exception):
    """A step has no definition or several, or one that would never run; the message says which."""


class StepBook:
    """The step definitions that are loaded."""

    def __init__(self) -> None:
        contexts = list(step_function_context_registry.values())
        for context in contexts:
            _refuse_async(context)
        # The literal beginning of a definition rules most of them out without trying the pattern, its first word
        # nearly all.
        self._definitions: dict[str, list[tuple[str, StepFunctionContext]]] = {}
        for context in contexts:
            beginning = _beginning(context)
            word = beginning.split(" ", 1)[0] if " " in beginning else ""
            self._definitions.setdefault(word, []).append((beginning, context))
        self._found: dict[tuple[str, str], StepFunctionContext] = {}

    def find(self, step: Any) -> StepFunctionContext:
        """The definition of a pytest-bdd step. Raises :class:`StepError` unless there is exactly one."""
        key = (step.type, step.name)
        if key not in self._found:
            self._found[key] = self._only(step, list(self._matching(*key)))
        return self._found[key]

    def _matching(self, kind: str, text: str) -> Iterable[StepFunctionContext]:
        first = text.split(" ", 1)[0]
        for beginning, context in (*self._definitions.get(first, ()), *self._definitions.get("", ())):
            if text.startswith(beginning) and context.type in (None, kind) and context.parser.is_matching(text):
                yield context

    def _only(self, step: Any, found: list[StepFunctionContext]) -> StepFunctionContext:
        if len(found) == 1:
            return found[0]
        line = f"{step.keyword} {step.name}"
        if not found:
            raise StepError(f"no step is defined for {line!r}")
        places = ", ".join(f"{c.step_func.__module__}.{c.step_func.__name__}" for c in found)
        raise StepError(f"{line!r} has {len(found)} definitions: {places}; tell the phrases apart")

    def install(self) -> None:
        """Let pytest-bdd take definitions from here."""
        # The package exports a function of that name, so the module itself is asked for.
        runner: Any = importlib.import_module("pytest_bdd.scenario")
        runner.get_step_function = lambda request, step: self.find(step)


def _beginning(context: StepFunctionContext) -> str:
    name = context.parser.name
    if isinstance(context.parser, string):
        return str(name)
    if isinstance(context.parser, parse):
        return str(name).split("{", 1)[0]
    match = _LITERAL.match(str(name))
    beginning = match[0] if match else ""
    # A quantifier or an alternative behind it may make the last character optional.
    return beginning[:-1]


def _refuse_async(context: StepFunctionContext) -> None:
    function = context.step_func
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise StepError(
            f"the step {context.parser.name!r} ({function.__module__}) is an async def: pytest-bdd would never run it"
            " and count it as held; write it as a plain function"
        )
