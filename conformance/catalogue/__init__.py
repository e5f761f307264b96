"""The obligations of AHP as data: what a host owes, since when, and where the text says so."""

from .model import Catalogue, CatalogueError, Obligation, load
from .tiers import TIERS, Tier, demanded, highest_tier, required

__all__ = [
    "TIERS",
    "Catalogue",
    "CatalogueError",
    "Obligation",
    "Tier",
    "demanded",
    "highest_tier",
    "load",
    "required",
]
