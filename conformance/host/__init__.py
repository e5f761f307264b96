"""The reference host: a conforming AHP host whose agent plays playbooks, and ways to make it wrong.

The core (`ReferenceHost`) knows no sockets; `HostServer` puts it behind a WebSocket.
"""

from .core import ReferenceHost
from .peers import Peer
from .server import HostServer
from .versions import VERSIONS_SUPPORTED

__all__ = ["VERSIONS_SUPPORTED", "HostServer", "Peer", "ReferenceHost"]
