"""Ways to get a running host and connections to it."""

from .base import PROVOCATIONS, BaseDriver, Driver, DriverError, TargetError
from .endpoint import EndpointDriver
from .probe import HostFacts, probe
from .resolve import resolve

__all__ = [
    "PROVOCATIONS",
    "BaseDriver",
    "Driver",
    "DriverError",
    "EndpointDriver",
    "HostFacts",
    "TargetError",
    "probe",
    "resolve",
]
