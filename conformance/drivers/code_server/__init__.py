"""VS Code's agent host as code-server carries it: installed from npm, started, driven."""

from .driver import CodeServerDriver
from .install import DEFAULT_VERSION, KNOWN_VERSIONS, Installation, installation
from .npm import InstallError

__all__ = ["DEFAULT_VERSION", "KNOWN_VERSIONS", "CodeServerDriver", "InstallError", "Installation", "installation"]
