"""The decisions of the host that a fault may turn around, one small method each.

A right host decides as written here. A deliberately wrong one replaces a method and is otherwise the
same host, so that what the suite catches is that one decision (see `host.faults`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.backend.playbook import token_hash
from conformance.protocol.actions import client_may_dispatch
from conformance.protocol.status import INPUT_NEEDED

from . import guarded
from .channels import chat_activity
from .versions import at_least

if TYPE_CHECKING:
    from .auth import Block, Credential
    from .channels import Channel, Chat, Server, Session
    from .core import ReferenceHost
    from .peers import Peer

JSON = Any


class Policy:
    """How a conforming host decides."""

    # -- authentication -------------------------------------------------------------------------

    def knows_resource(self, host: ReferenceHost, resource: str) -> bool:
        """Whether somebody advertised the resource; only then a token for it is looked at."""
        return host.advertised(resource)

    def accepts_token(self, credential: Credential, challenge: JSON) -> bool:
        """Whether the simulated server takes the token. Asked when a client pushes it."""
        return credential.digest in challenge["accept"]

    def covers_scopes(self, credential: Credential, challenge: JSON) -> bool:
        """A token pushed without scopes may hold any; one with scopes needs those of the challenge."""
        return credential.scopes is None or set(challenge.get("scopes", ())) <= set(credential.scopes)

    def satisfies(self, credential: Credential, challenge: JSON) -> bool:
        """Whether a request with this token goes through. Asked when the request is made."""
        return credential.digest in challenge["accept"]

    def presented(self, host: ReferenceHost, resource: str) -> Credential | None:
        """The token that a request to the server of this resource carries."""
        return host.vault.held(resource)

    def asks_again(self, block: Block) -> bool:
        """Whether a token that comes when this block is over sends its request all the same, without a word."""
        return False

    def still_waits(self, block: Block) -> bool:
        """Whether a block is one that a token may still resolve."""
        return block.live

    def may_resolve(self, host: ReferenceHost, peer: Peer, block: Block) -> bool:
        """Sessions are shared, so anybody's token serves."""
        return True

    def released(self, host: ReferenceHost, blocks: list[Block]) -> list[Block]:
        """Which of the blocks that an accepted token covers are resolved by it."""
        return blocks

    def keeps_blocks(self, host: ReferenceHost, peer: Peer) -> bool:
        """Whether a lost connection leaves the blocks of its turns alone."""
        return True

    def uses_up(self, host: ReferenceHost, block: Block) -> bool:
        """Whether a refused token ends the call that waits."""
        return False

    # -- agents that need a token ------------------------------------------------------------------

    def demands_token(self, host: ReferenceHost, peer: Peer, provider: str) -> bool:
        """Whether a client has to authenticate before it may use the agent."""
        client = host.clients[str(peer.client_id)]
        return provider == guarded.PROVIDER and guarded.RESOURCE not in client.granted

    def accepts_agent_token(self, host: ReferenceHost, digest: str, scopes: tuple[str, ...] | None) -> bool:
        """Whether the service behind the agent takes the token; scopes: what its client said of it."""
        return digest == token_hash(guarded.TOKEN)

    def agent_token_refused(self, granted: set[str]) -> None:
        """What a refused token does to those accepted before: nothing."""

    # -- challenges ------------------------------------------------------------------------------

    def surfaces_challenge(self, turn: Any, count: int) -> bool:
        """Whether the challenge with this number (from 0) is put to the clients."""
        return True

    def waits_for_token(self, turn: Any) -> bool:
        return True

    def notices_end_of_call(self) -> bool:
        """Whether the agent hears that somebody ended a blocked call."""
        return True

    def reason(self, status: int, presented: bool) -> str:
        if status == 403:
            return "insufficientScope"
        return "expired" if presented else "required"

    def executed_input(self, call: JSON, original: str) -> str:
        """What the tool runs with: the input as it stands in state, edits included."""
        return str(call.get("toolInput", original))

    # -- input needed ----------------------------------------------------------------------------

    def wants_entry(self, session: Session, chat: Chat, kind: str, call: JSON | None) -> bool:
        """Whether an open request of that kind is listed."""
        return True

    def extra_entries(self, chat: Chat, call: JSON) -> str | None:
        """A kind under which a call is listed that waits for nobody; none in a right host."""
        return None

    def entry_id(self, host: ReferenceHost, kind: str, chat: Chat, request: JSON) -> str:
        """A new id for an entry; it says nothing, because nobody may read it."""
        return host.mint("need")

    def removes_entry(self, kind: str, cause: str) -> bool:
        """Whether the entry goes once its request is over. cause: type of the action that ended it."""
        return True

    def renames_entry(self) -> bool:
        """Whether an update of an entry gets a new id."""
        return False

    def activity(self, host: ReferenceHost, session: Session, version: str) -> int:
        """The activity value of a session.

        Whatever waits for the user makes it InputNeeded, a server whose challenge a running turn
        raised included. Client executions do so before 0.8.0.
        """
        kinds = {entry["kind"] for entry in session.folds[version].get("inputNeeded", ())}
        if at_least(version, "0.8.0"):
            kinds.discard("toolClientExecution")
        if kinds or any(self.raises_session(session, server) for server in session.servers.values()):
            return INPUT_NEEDED
        return chat_activity(session, version)

    def raises_session(self, session: Session, server: Server) -> bool:
        """Whether the challenge of a server is one of a turn that is running."""
        if server.chat is None or server.chat.uri not in session.chats:
            return False
        if session.server_state(server) != "authRequired":
            return False
        active = server.chat.active
        return active is not None and active["id"] == server.turn_id

    # -- actions of clients ----------------------------------------------------------------------

    def hears(self, peer: Peer, channel: Channel) -> bool:
        """Whether an action counts although its sender has not subscribed to the channel."""
        return True

    def may_dispatch(self, action_type: str, version: str) -> bool:
        return client_may_dispatch(action_type, version)

    def may_fail_blocked(self, chat: Chat, peer: Peer) -> bool:
        """Whether a client may end a blocked call by a failed result."""
        return True

    def refuses_success(self) -> bool:
        """Whether a client's success for a blocked call is refused."""
        return True

    def confirmable(self, call: JSON) -> bool:
        return bool(call["status"] == "pending-confirmation")

    def owns(self, call: JSON, peer: Peer) -> bool:
        """Whether the client may report on a running call: it is its own tool."""
        contributor = call.get("contributor") or {}
        return contributor.get("kind") == "client" and contributor.get("clientId") == peer.client_id

    def changes_content(self, call: JSON) -> bool:
        return bool(call["status"] == "running")

    def answers_once(self) -> bool:
        """Whether an input request that is answered is closed for further answers."""
        return True

    def own_client_only(self) -> bool:
        """Whether a client may set nobody but itself active."""
        return True

    def one_turn_at_a_time(self) -> bool:
        return True

    # -- servers, clients, the handshake ------------------------------------------------------------

    def shows_start(self, requested: bool) -> bool:
        """Whether the outcome of a start is reported. requested: a client asked for the start."""
        return True

    def stops_calls(self) -> bool:
        """Whether stopping a server ends the calls that wait for it."""
        return True

    def offers_tools(self, state: str) -> bool:
        """Whether the agent has the tools of a server in that state."""
        return state in ("ready", "authRequired")

    def serves(self, state: str) -> bool:
        """Whether a call reaches a server in that state."""
        return state != "stopped"

    def stops_disabled(self) -> bool:
        return True

    def resolves_servers(self) -> bool:
        """Whether a server becomes ready once its challenge is met."""
        return True

    def removes_client(self, cause: str) -> bool:
        """Whether a client that left is taken off. cause: unsubscribe, reconnect or disconnect."""
        return True

    def ends_client_calls(self) -> bool:
        """Whether the calls of a client that left end as failed."""
        return True

    def closes_on_refusal(self) -> bool:
        """Whether a connection without a common version is closed."""
        return True

    def delivers(self, peer: Peer, channel: Channel) -> bool:
        """Further connections that get what a channel sends, beside its subscribers."""
        return False
