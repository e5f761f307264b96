"""What tests of drivers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .hosts import Greeter


@pytest.fixture
def greeter() -> Iterator[Greeter]:
    greeter = Greeter()
    yield greeter
    greeter.close()
