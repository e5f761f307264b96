"""Judges hosts of the Agent Host Protocol from the outside."""

__version__ = "0.1.0"
