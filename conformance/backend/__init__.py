"""What a scenario can make an agent do: the playbook in a message, and stand-ins for what agents talk to."""

from .playbook import PLAYBOOK_KEY, PlaybookError, compose, find, token_hash

__all__ = ["PLAYBOOK_KEY", "PlaybookError", "compose", "find", "token_hash"]
