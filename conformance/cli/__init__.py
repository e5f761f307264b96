"""The command line. Everything that costs time to import is imported by the command that needs it."""

from . import hosting, judging, rendering
from .app import app, main

__all__ = ["app", "hosting", "judging", "main", "rendering"]
