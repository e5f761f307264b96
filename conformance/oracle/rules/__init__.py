"""The rules, one module per concern."""

from ..rule import Rule

RULES: tuple[type[Rule], ...] = ()

__all__ = ["RULES"]
