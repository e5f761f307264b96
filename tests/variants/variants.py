"""All variants by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from .answering import ANSWERING
from .calling import CALLING
from .hosts import Variant
from .living import LIVING
from .pacing import PACING

VARIANTS: Final[Mapping[str, Variant]] = MappingProxyType(
    {variant.name: variant for variant in (*ANSWERING, *LIVING, *CALLING, *PACING)}
)
