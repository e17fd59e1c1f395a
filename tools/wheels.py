"""Build wheels for all platforms on this machine, with ziglang, and check their contents.

A wheel must contain exactly the libraries of its platform. The libraries must

- link only to the C library of the system, in the version that the tag of the wheel promises or an older one;
- export exactly the functions that Python calls;
- be small.
"""

import argparse
import ast
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lief
from hatchling.build import build_wheel

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "src" / "radoncdt" / "_native"
sys.path.insert(0, str(NATIVE))

import build  # noqa: E402, loaded without radoncdt, whose dependencies are not installed

PUBLISHED = ("linux-x86_64", "linux-arm64", "macos-arm64", "macos-x86_64", "windows-x86_64")
MAX_SIZE = 300_000  # bytes per library: three times the present size

# The libraries to which ours may link, or the beginnings of their names.
ALLOWED = {
    "linux": ("libc.so.6", "libm.so.6", "ld-linux"),
    "macos": ("/usr/lib/libSystem.B.dylib",),
    "windows": ("KERNEL32.dll", "api-ms-win-crt-"),
}
OLDEST = {"linux": (2, 17), "macos-arm64": (11, 0), "macos-x86_64": (10, 13)}
"""Versions of glibc, or of macOS, that the tags of the wheels promise."""

PROCESSORS = {"x86_64": ("X86_64", "AMD64"), "arm64": ("AARCH64", "ARM64")}
"""Names of the processors in the headers of the libraries."""

lief.logging.disable()  # otherwise it warns of an empty table in libraries for macOS

LINKER_SYMBOLS = {"_mh_dylib_header", "__dso_handle"}  # zig adds these to each library for macOS


def make_wheel(target: str, out: Path) -> Path:
    """Build the wheel of a target."""
    os.environ["RADONCDT_TARGET"] = target
    # The C libraries that zig compiles are kept for the next wheel.
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(Path(sys.prefix, "zig-cache"))
    return out / build_wheel(str(out))


def read_expected_functions() -> set[str]:
    """Read the functions that Python calls from the table in _native/__init__.py."""
    for node in ast.parse((NATIVE / "__init__.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_SIGNATURES":
            kernels = ast.literal_eval(node.value)
            return {f"radoncdt_{name}" for name in [*kernels, "source_hash", "has_avx2", "has_avx512"]}
    raise LookupError("there is no table _SIGNATURES in _native/__init__.py")


def find_wheel_faults(wheel: Path, target: build.Target) -> Iterator[str]:
    """List the faults of a wheel."""
    if not wheel.name.endswith(f"-py3-none-{target.tag}.whl"):
        yield f"the tag is not py3-none-{target.tag}"
    folder = "radoncdt/_native/"
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix(folder) for name in archive.namelist() if name.startswith(folder)}
        libraries = {f"lib/{target.file_name(name)}" for name in target.instruction_sets}
        if names != libraries | {"__init__.py", "structs.py", "lib/build.json"}:
            yield f"contains the wrong files: {sorted(names)}"
        built = json.loads(archive.read(f"{folder}lib/build.json"))
        for name in sorted(names & libraries):
            content = archive.read(folder + name)
            if built["source_hash"].encode() not in content:
                yield f"{name}: was not built from the sources in build.json"
            yield from (f"{name}: {fault}" for fault in find_library_faults(content, target))


def find_library_faults(content: bytes, target: build.Target) -> Iterator[str]:
    """List the faults of a library."""
    library = lief.parse(content)
    if library is None:
        yield "is not a library"
        return
    links, functions, processor, versions = _describe(library, target.system)
    processors = PROCESSORS[target.name.partition("-")[2]]
    if processor not in processors:
        yield f"made for {processor}, not for {processors[0]}"
    yield from (f"links to {name}" for name in links if not name.startswith(ALLOWED[target.system]))
    oldest = OLDEST.get(target.system) or OLDEST.get(target.name)
    yield from (f"needs version {version} of the system" for version in versions if oldest and version > oldest)
    if functions != read_expected_functions():
        yield f"exports differ by {sorted(functions ^ read_expected_functions())}"
    if len(content) > MAX_SIZE:
        yield f"is larger than {MAX_SIZE} bytes: {len(content)}"


def _describe(library: Any, system: str) -> tuple[list[str], set[str], str, list[tuple[int, ...]]]:
    """Return the links of a library, its exports, its processor, and the versions of the system that it needs."""
    if system == "linux":
        groups = library.symbols_version_requirement
        needed = [version.name for group in groups for version in group.get_auxiliary_symbols()]
        versions = [tuple(map(int, name[6:].split("."))) for name in needed if re.fullmatch(r"GLIBC_[\d.]+", name)]
        exports = {symbol.name for symbol in library.exported_symbols}
        return list(library.libraries), exports, library.header.machine_type.name, versions
    if system == "macos":
        links = [
            command.name for command in library.libraries if command.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB
        ]
        exports = {symbol.name.removeprefix("_") for symbol in library.exported_symbols} - LINKER_SYMBOLS
        command = library.build_version.minos if library.has_build_version else library.version_min.version
        return links, exports, library.header.cpu_type.name, [tuple(command[:2])]
    exports = {entry.name for entry in library.get_export().entries}
    return list(library.libraries), exports, library.header.machine.name, []


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=PUBLISHED, help=f"default: {' '.join(PUBLISHED)}")
    parser.add_argument("--here", action="store_true", help="build only the wheel for this machine")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the wheels (default: %(default)s)")
    options = parser.parse_args()
    out = options.out.resolve()
    os.chdir(ROOT)  # hatchling builds the project in the working directory
    is_good = True
    for name in [build.native_target().name] if options.here else options.targets:
        if name not in PUBLISHED:
            parser.error(f"there is no wheel for {name}; choose from {', '.join(PUBLISHED)}")
        wheel = make_wheel(name, out)
        faults = list(find_wheel_faults(wheel, build.TARGETS[name]))
        print(f"{wheel.name}: {wheel.stat().st_size // 1000} kB", *(f"\n    {fault}" for fault in faults), flush=True)
        is_good = is_good and not faults
    sys.exit(not is_good)


if __name__ == "__main__":
    main()
