"""What the build adds to a wheel: the catalogue in the form that loads fast."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCatalogue(BuildHookInterface):
    """Compiles the themes outside the source tree; an editable installation compiles for itself when it first loads."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        compiled = _compiled_module(Path(self.root) / "conformance" / "catalogue" / "compiled.py")
        texts = compiled.theme_texts()
        self.place = Path(self.directory) / compiled.NAME
        compiled.store(self.place, compiled.key(texts), compiled.parse(texts))
        build_data["force_include"][str(self.place)] = f"conformance/catalogue/{compiled.NAME}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.place.unlink(missing_ok=True)


def _compiled_module(path: Path) -> Any:
    """The module by itself: the package around it needs more than a build has."""
    spec = importlib.util.spec_from_file_location("_compiled", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
