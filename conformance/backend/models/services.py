"""The service that agents are pointed at in place of a model: every surface on one port of loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from conformance.backend.player import Lexicon
from conformance.backend.web import BackendMissing, LoopbackServer

from .ledger import Ledger, ModelRequest


class ModelServices:
    """Plays model services: OpenAI Chat Completions and Responses, Anthropic Messages, GitHub Copilot.

    It answers by the playbook in the conversation (conformance.backend.player) and keeps nothing else, so any number of
    conversations run side by side, and several services may serve one. Whatever stands in front of the last words of a
    path is free: `/v1/chat/completions` is as good as `/chat/completions`.

    lexicon: the tools of the agent that stand for moves without a server or client. refuse_tokens: tokens that are
    answered with 401; any other is taken, and none at all as well. port: 0 picks a free one.

    Raises BackendMissing where the packages of the extra `backend` are not installed.
    """

    def __init__(self, *, lexicon: Lexicon | None = None, refuse_tokens: Iterable[str] = (), port: int = 0) -> None:
        try:
            from .application import application
        except ImportError:
            raise BackendMissing(
                "the scripted model service needs extra packages of the suite: pip install 'ahp-conformance[backend]'"
            ) from None
        self._ledger = Ledger()
        self._refused = frozenset(refuse_tokens)
        self._server = LoopbackServer(
            application(self._ledger, lexicon or Lexicon(), lambda token: token in self._refused), port
        )
        self._url = ""

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end; empty before `start`."""
        return self._url

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Everything that was asked so far, in the order of arrival; requests that still run are among it."""
        return self._ledger.requests

    def start(self) -> str:
        """Listen, and return the base URL. Raises OSError when the port cannot be had."""
        self._url = self._server.start()
        return self._url

    def stop(self) -> None:
        """End every connection, held ones included. May be called twice."""
        self._server.stop()

    def release(self, name: str) -> None:
        """Let the agent go on from the pauses of this name: those it stands at and those it has yet to come to."""
        self._ledger.release(name)

    def refuse(self, tokens: Iterable[str]) -> None:
        """From now on, answer exactly these tokens with 401."""
        self._refused = frozenset(tokens)

    def await_request(self, wanted: Callable[[ModelRequest], bool], timeout: float) -> ModelRequest | None:
        """The first request that is as wanted, now or within ``timeout`` seconds; None when there was none."""
        return self._ledger.await_request(wanted, timeout)
