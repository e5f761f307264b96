"""The model services that agents ask, played by the suite: they answer as the playbook in the conversation says."""

from .ledger import ModelRequest
from .services import ModelServices

__all__ = ["ModelRequest", "ModelServices"]
