"""What a driver is: the one thing that the suite must know about a host to judge it.

Contract and a worked example: docs/drivers.md. Third parties register theirs under the entry point group
``ahp_conformance.drivers`` or name it as ``module:Class``.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from conformance.wire.transport import Transport

PROVOCATIONS = (
    "wire",
    "second-client",
    "disconnect",
    "turn",
    "tool",
    "client-tool",
    "mcp",
    "mcp-auth",
    "mcp-record",
    "restart",
    "fs-root",
    "terminal",
    "clock",
)


class DriverError(Exception):
    """The host could not be started or reached; the message says what to do about it."""


class TargetError(DriverError):
    """What names the host is nothing that the suite knows; wrong usage."""


@runtime_checkable
class Driver(Protocol):
    """Reaches one host. The suite calls :meth:`start` once, :meth:`connect` often, :meth:`stop` once."""

    name: str
    """What reports call the driver, such as ``reference`` or ``endpoint``."""

    def start(self) -> None:
        """Bring the host up, or check that it can be reached. Raises :class:`DriverError`."""

    def connect(self) -> Transport:
        """A new connection, upgraded and ready for the first frame.

        Raises :class:`conformance.wire.ConnectError` or :class:`DriverError`.
        """

    def stop(self) -> None:
        """End what :meth:`start` began. Called once, also after a failure."""

    @property
    def endpoint(self) -> str:
        """Where the host listens, as a person would write it; no secrets."""

    @property
    def provocations(self) -> frozenset[str] | None:
        """What the driver can make the host do (names of :data:`PROVOCATIONS`), or None to ask the host.

        A host that plays playbooks says so itself in ``RootState._meta["ahp-conformance"]``.
        """


class BaseDriver:
    """Defaults for drivers: nothing to start or stop, provocations as the host says."""

    name = "driver"
    provocations: frozenset[str] | None = None

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""
