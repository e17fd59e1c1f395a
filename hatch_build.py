"""Build hook of hatchling: puts the compiled kernels into wheels, and makes them for editable installations.

Environment variables choose what is built:

RADONCDT_BUILD
    ``native``: compile the kernels, and fail if that is impossible. This is also what CI=true does.
    ``numpy``: do not compile; the package uses its NumPy kernels, which are slow.
    Unset: compile if possible, otherwise warn and use the NumPy kernels.
CXX
    The C++20 compiler, with options if needed. Default: c++, g++ or clang++. If none of them works, the build asks pip
    for the package ziglang, which contains clang.
RADONCDT_TARGET
    Compile for another platform, such as linux-arm64, with ziglang; see src/radoncdt/_native/build.py.
"""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the kernels; see the module."""

    def dependencies(self) -> list[str]:
        """What has to be installed for the build: a compiler, if there is none and PyPI has one for this machine."""
        mode, target = self._settings()
        native = _native()
        if mode == "numpy":
            return []
        try:
            # pip aborts if it cannot install a requirement, and some platforms have no ziglang.
            if target is None and native.native_target().triple:
                native.find_compiler()
        except native.NoCompilerError:
            return [native.ZIGLANG]
        except native.BuildError:
            return []
        return [native.ZIGLANG] if target else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, for an editable installation in place."""
        mode, target = self._settings()
        native = _native()
        if mode == "numpy":
            self.app.display_warning("RADONCDT_BUILD=numpy: the kernels are not compiled; radoncdt will be slow.")
            return
        try:
            if version == "editable":
                native.ensure_current()
                return
            self.folder = tempfile.TemporaryDirectory()
            built = native.build(Path(self.folder.name), target=target)
        except native.BuildError as error:
            message = f"the kernels of radoncdt could not be compiled: {error}"
            if mode == "native":
                self.app.abort(f"{message}\nWith RADONCDT_BUILD=numpy, radoncdt is installed without them, and slow.")
            self.app.display_warning(f"{message}\nradoncdt will use its NumPy kernels, which are slow.")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{built['tag']}"
        for name in [*built["files"], "build.json"]:
            build_data["force_include"][str(Path(self.folder.name, name))] = f"radoncdt/_native/lib/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled, once it is in the wheel."""
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def _settings(self) -> tuple[str, Any]:
        """The mode (native, numpy or, for either, an empty string) and the target, None for this machine."""
        is_ci = os.environ.get("CI", "").lower() in ("1", "true")
        name = os.environ.get("RADONCDT_TARGET")
        mode = os.environ.get("RADONCDT_BUILD") or ("native" if is_ci or name else "")
        if mode not in ("native", "numpy", ""):
            self.app.abort(f"RADONCDT_BUILD must be native or numpy, got {mode!r}")
        targets = _native().TARGETS
        if name and name not in targets:
            self.app.abort(f"RADONCDT_TARGET must be one of {', '.join(targets)}, got {name!r}")
        return mode, targets[name] if name else None


def _native() -> ModuleType:
    """The module radoncdt._native.build, without radoncdt, whose dependencies are not installed."""
    name = "radoncdt_native_build"
    if name not in sys.modules:
        path = Path(__file__).resolve().parent / "src" / "radoncdt" / "_native" / "build.py"
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
