"""The command line. Everything that costs time to import is imported by the command that needs it."""

from . import catalogue, checking, doctor, hosting, judging, rendering, schemas
from .app import app, main

__all__ = ["app", "catalogue", "checking", "doctor", "hosting", "judging", "main", "rendering", "schemas"]
