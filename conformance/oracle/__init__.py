"""Passive rules: frames in, findings out. No sockets, no clock, no I/O."""

from .findings import Finding
from .oracle import Oracle, watched_obligations
from .rule import Rule

__all__ = ["Finding", "Oracle", "Rule", "watched_obligations"]
