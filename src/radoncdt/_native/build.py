"""Compile the kernels into the libraries that radoncdt loads.

All C++ files of this folder are compiled once per instruction set. The libraries are written to ``lib/``, together with
``build.json``, which records the hash of the sources, the compiler and the flags. There is one library per instruction
set, because the linker keeps only one copy of an inline function, and a copy compiled for AVX2 would crash older
processors.

The build hook (hatch_build.py) uses this file when a wheel is built. In a development checkout, the loader calls
`ensure_current`. Wheels do not contain this file. It needs only the standard library, and does not import radoncdt.
Modules that only a build needs are imported where they are used, so that checking the libraries is fast.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "HERE",
    "LIBRARIES",
    "TARGETS",
    "WARNINGS",
    "ZIGLANG",
    "BuildError",
    "Compiler",
    "NoCompilerError",
    "Target",
    "build",
    "ensure_current",
    "find_compiler",
    "is_current",
    "make_libraries",
    "native_target",
    "remove_reason",
    "source_hash",
    "write_reason",
]

HERE = Path(__file__).resolve().parent
LIBRARIES = HERE / "lib"

FLAGS = (
    "-std=c++20",
    "-O3",
    "-fvisibility=hidden",  # only the functions that kernels.h declares are exported
    # The kernels do not use the C++ runtime library, so the libraries depend on libc and libm only.
    "-fno-exceptions",
    "-fno-rtti",
    # Floating point. Results must not depend on how a compiler fuses or reorders operations. A product and a sum are
    # fused only where vectors.h says so, and -ffast-math is not used. In particular, denormal numbers keep their IEEE
    # meaning; -ffast-math could switch them off for the whole process.
    "-ffp-contract=off",
    "-fno-math-errno",  # nothing reads errno, and sqrt becomes one instruction
    "-fno-trapping-math",  # nothing reads the floating-point exception flags, and loops with conditions vectorise
    "-Wno-psabi",  # 32-byte arguments are passed differently with AVX, but no interface has any
)
INSTRUCTION_SETS = {
    "baseline": (),  # runs on every processor of the platform: SSE2 for x86-64, NEON for arm64
    # More compilers support these options than -march=x86-64-v3 and -march=x86-64-v4.
    "avx2": ("-mavx2", "-mfma"),  # about twice as fast
    # twice as wide: for projections in double, and for the comparison of bent images
    "avx512": ("-mavx2", "-mfma", "-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"),
}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")

ZIGLANG = "ziglang>=0.13,<0.18"
"""The compiler from PyPI: clang with the headers and libraries of all platforms in `TARGETS`."""

# The features that a compiler must support. GCC for Windows does not align 32-byte vectors on the stack (bug 54412).
TRIAL = """
#if defined(_WIN32) && !defined(__clang__)
#error "on Windows, the kernels need clang"
#endif
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
typedef double Vector __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(16)));
template <class T>
    requires std::floating_point<T>
static T larger(T a, T b) { return std::max(a, b); }
extern "C" double radoncdt_trial(const double* x) {
    Vector v = Vector{} + x[0];
    Vector w = v < x[1] ? v * x[1] : v;
    w += __builtin_convertvector((Floats{1, 2, 3, 4}), Vector);
    return larger(std::sqrt(w[0]), std::sin(w[3])) + std::popcount(7u);
}
"""


class BuildError(RuntimeError):
    """The libraries could not be built."""


class NoCompilerError(BuildError):
    """There is no suitable compiler."""


@dataclass(frozen=True)
class Target:
    """A platform to compile for."""

    name: str
    """System and processor, such as linux-x86_64."""
    triple: str
    """The target triple of zig, with the oldest version of the system that the libraries support."""
    tag: str
    """The platform tag of a wheel with libraries that zig compiled."""

    @property
    def system(self) -> str:
        return self.name.partition("-")[0]

    @property
    def instruction_sets(self) -> tuple[str, ...]:
        return tuple(INSTRUCTION_SETS) if self.name.endswith("x86_64") else ("baseline",)

    def file_name(self, instruction_set: str) -> str:
        """The name of a library."""
        ending = {"windows": "dll", "macos": "dylib"}.get(self.system, "so")
        return f"libradoncdt-{instruction_set}.{ending}"


# manylinux_2_17 is what pip calls systems with glibc 2.17 (2014) or newer.
TARGETS = {
    target.name: target
    for target in (
        Target("linux-x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
        Target("linux-arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
        Target("musl-x86_64", "x86_64-linux-musl", "musllinux_1_2_x86_64"),
        Target("musl-arm64", "aarch64-linux-musl", "musllinux_1_2_aarch64"),
        Target("macos-arm64", "aarch64-macos.11.0", "macosx_11_0_arm64"),
        Target("macos-x86_64", "x86_64-macos.10.13", "macosx_10_13_x86_64"),
        Target("windows-x86_64", "x86_64-windows-gnu", "win_amd64"),
        Target("windows-arm64", "aarch64-windows-gnu", "win_arm64"),
    )
}


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: the command that runs it, and its version."""

    command: tuple[str, ...]
    version: str
    is_zig: bool = False

    def compile(self, target: Target, instruction_set: str, extra: tuple[str, ...]) -> list[str]:
        """The command that compiles, without the names of the files."""
        command = self._driver("c++", target)
        command += [*FLAGS, *INSTRUCTION_SETS[instruction_set], *extra, "-c"]
        return command if target.system == "windows" else [*command, "-fPIC"]

    def link(self, target: Target, name: str) -> list[str]:
        """The command that links, without the names of the files."""
        # As a C++ linker, zig would first build the C++ runtime library, which takes more than a minute.
        command = [*self._driver("cc", target), "-shared"]
        if target.system == "macos":
            return [*command, "-Wl,-dead_strip_dylibs", f"-Wl,-install_name,@rpath/{name}"]
        if target.system == "windows":
            return [*command, "-s"]
        # GCC and clang pass the C++ runtime library to the linker, which omits it because nothing needs it.
        return [*command, "-s", "-Wl,--as-needed", "-Wl,-z,defs"]

    def _driver(self, language: str, target: Target) -> list[str]:
        if self.is_zig:
            # Without a target and a processor, zig would compile for the processor of this machine. Its checks for
            # undefined behaviour are for debugging.
            platform = ["-target", target.triple, "-mcpu=baseline", "-fno-sanitize=undefined", "-g0"]
            return [*self.command, language, *platform]
        if target.system == "macos":
            version = target.triple.partition("macos.")[2]
            processor = target.name.partition("-")[2]
            return [*self.command, "-arch", processor, f"-mmacosx-version-min={version}"]
        return list(self.command)


def native_target() -> Target:
    """The platform of this Python."""
    import platform
    import sysconfig

    if sys.maxsize < 2**32:
        raise NoCompilerError("the compiled kernels need a 64-bit Python")
    # Windows for arm64 can run a Python for x86-64.
    machine = sysconfig.get_platform().removeprefix("win-") if sys.platform == "win32" else platform.machine()
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)
    system = {"win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    if system == "linux" and "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
        system = "musl"
    name = f"{system}-{machine}"
    return TARGETS.get(name) or Target(name, "", "")


def find_compiler(target: Target | None = None, command: str | None = None) -> Compiler:
    """Find a C++20 compiler for a target, by default for this machine.

    For this machine, the compiler is `command`, or the one that the environment variable CXX names, or the first of
    c++, g++, clang++ and zig (from the package ziglang) that works. Other targets are compiled by zig.

    Raises
    ------
    NoCompilerError
        If none of c++, g++ and clang++ can compile and link a small library, and ziglang is not installed.
    BuildError
        If the compiler chosen by `command` or CXX cannot do so.
    """
    import importlib.util
    import shlex
    import shutil

    attempts = []
    if target is None:
        chosen = (command or os.environ.get("CXX") or "").strip()
        for candidate in [chosen] if chosen else ["c++", "g++", "clang++"]:
            words = tuple(shlex.split(candidate, posix=os.name != "nt"))
            if shutil.which(words[0]) is None:
                attempts.append(f"{candidate}: not found")
                continue
            try:
                return _try_compiler(words)
            except BuildError as error:
                attempts.append(f"{candidate}: {error}")
        if chosen:
            raise BuildError(f"the chosen compiler does not work: {attempts[0]}")
    zig = (sys.executable, "-m", "ziglang")
    if importlib.util.find_spec("ziglang") is None:
        attempts.append("ziglang: not installed")
    elif not (target or native_target()).triple:
        attempts.append(f"ziglang: not tested on {native_target().name}")
    else:
        return Compiler(zig, f"zig {_run([*zig, 'version']).strip()}", is_zig=True)
    raise NoCompilerError("; ".join([f"no C++20 compiler; install one, or: pip install '{ZIGLANG}'", *attempts]))


def source_hash() -> str:
    """The SHA-256 hash of the names and contents of all files that the libraries depend on."""
    digest = hashlib.sha256()
    for path in sorted([*HERE.glob("*.cpp"), *HERE.glob("*.h"), HERE / "build.py"]):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def ensure_current() -> Path:
    """Compile the libraries for this machine unless they are up to date; return their folder.

    Raises
    ------
    NoCompilerError
        If the libraries have to be compiled and there is no compiler.
    BuildError
        If the libraries cannot be compiled.
    """
    while not is_current(LIBRARIES):  # the sources may change again during a build
        build(LIBRARIES, unless=is_current)
    return LIBRARIES


def write_reason(folder: Path, reason: str) -> None:
    """Record why there are no libraries; `_kernels.explain_missing` reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "build.json").write_text(json.dumps({"missing": reason, "files": []}) + "\n", "utf-8")


def remove_reason(folder: Path) -> None:
    """Remove the record of `write_reason`."""
    if not is_current(folder):
        (folder / "build.json").unlink(missing_ok=True)


def is_current(folder: Path) -> bool:
    """Whether a folder contains the libraries of the current sources for this machine."""
    try:
        built = json.loads((folder / "build.json").read_bytes())
        is_here = built["target"] == native_target().name  # a container may share the folder
        is_complete = all((folder / name).exists() for name in built["files"])
        return is_here and is_complete and bool(built["source_hash"] == source_hash())
    except (OSError, ValueError, KeyError):
        return False


def build(
    folder: Path,
    *,
    target: Target | None = None,
    command: str | None = None,
    werror: bool = False,
    unless: Callable[[Path], bool] | None = None,
) -> dict[str, Any]:
    """Compile the libraries for a target, by default for this machine, into a folder.

    Processes that build into the same folder wait for each other. ``build.json`` is written last. If it exists, the
    libraries are complete.

    Parameters
    ----------
    folder : Path
        The folder of the libraries.
    target : Target, optional
        The platform to compile for, with zig.
    command : str, optional
        The compiler. The default is that of `find_compiler`.
    werror : bool
        Whether warnings are errors.
    unless : callable, optional
        Called with the folder once no other process is building; if it returns True, nothing is built.

    Returns
    -------
    dict
        The content of ``build.json``.
    """
    import logging
    import shutil
    import tempfile

    description = folder / "build.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder / ".lock"):
            if unless is not None and unless(folder):
                return dict(json.loads(description.read_bytes()))
            compiler = find_compiler(target, command)
            if unless is not None:  # a call of the package waits for this
                logging.getLogger("radoncdt").warning("radoncdt: compiling the kernels, which takes about ten seconds")
            for left in folder.glob(".build-*"):  # remains of builds that were killed
                shutil.rmtree(left, ignore_errors=True)
            # The name is unique, because the compilers of a build that was killed may still be writing.
            temporary = Path(tempfile.mkdtemp(prefix=".build-", dir=folder))
            try:
                built = _compile(temporary, compiler, target or native_target(), WARNINGS if werror else ())
                description.unlink(missing_ok=True)
                for name in built["files"]:
                    os.replace(temporary / name, folder / name)
                (temporary / "build.json").write_text(json.dumps(built, indent=1) + "\n", "utf-8")
                os.replace(temporary / "build.json", description)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise BuildError(f"cannot write the libraries to {folder}: {error}") from error
    return built


def _compile(folder: Path, compiler: Compiler, target: Target, warnings: tuple[str, ...]) -> dict[str, Any]:
    """Compile the kernels in a folder, and describe the result for build.json."""
    sources = sorted(HERE.glob("*.cpp"), key=lambda path: -path.stat().st_size)  # the longest first
    before = source_hash()
    files = make_libraries(folder, compiler, target, sources, (*warnings, f'-DRADONCDT_SOURCE_HASH="{before}"'))
    return {
        "source_hash": before,
        "target": target.name,
        "tag": target.tag if compiler.is_zig or target.system == "macos" else _platform_tag(),
        "compiler": compiler.version,
        "flags": list(FLAGS),
        "instruction_sets": {name: list(INSTRUCTION_SETS[name]) for name in target.instruction_sets},
        "files": files,
    }


def make_libraries(
    folder: Path, compiler: Compiler, target: Target, sources: list[Path], extra: tuple[str, ...]
) -> list[str]:
    """Compile and link sources in a folder, for all instruction sets; return the names of the libraries."""
    from concurrent.futures import ThreadPoolExecutor

    # The cache of zig takes more than 100 MB. It is removed with the folder, unless the user has chosen another.
    cache = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    environment = cache | os.environ
    compilations, links, names = [], [], []
    for instruction_set in target.instruction_sets:
        name = target.file_name(instruction_set)
        objects = [str(folder / f"{source.stem}-{instruction_set}.o") for source in sources]
        command = compiler.compile(target, instruction_set, extra)
        compilations += [[*command, str(source), "-o", made] for source, made in zip(sources, objects)]
        links.append([*compiler.link(target, name), *objects, "-o", str(folder / name)])
        names.append(name)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for commands in (compilations, links):
            list(pool.map(lambda command: _run(command, environment), commands))
    return names


def _try_compiler(command: tuple[str, ...]) -> Compiler:
    """Return the compiler that a command runs if it can compile `TRIAL`; raise BuildError otherwise."""
    import tempfile

    compiler = Compiler(command, "")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "trial.cpp")
        source.write_text(TRIAL, "utf-8")
        make_libraries(Path(folder), compiler, native_target(), [source], ())
    return Compiler(command, _run([*command, "--version"]).partition("\n")[0].strip())


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a command and return its output; raise BuildError with the command and its output if it fails."""
    import shlex
    import subprocess

    try:
        result = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise BuildError(f"cannot run {command[0]}: {error}") from error
    if result.returncode != 0:
        raise BuildError(f"the compiler failed ({result.returncode}):\n{shlex.join(command)}\n{result.stdout}")
    return result.stdout


def _platform_tag() -> str:
    """The platform tag of a wheel that is only for machines like this one."""
    import sysconfig

    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock of a file. The system releases it if the process dies."""
    with open(path, "ab") as file:
        if sys.platform == "win32":
            import msvcrt

            while True:
                try:
                    file.seek(0)
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # waits for ten seconds
                    break
                except OSError:
                    continue
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file unlocks it


def main() -> None:
    """Run the command line."""
    import argparse

    parser = argparse.ArgumentParser(description="Compile the kernels of radoncdt.")
    parser.add_argument("--compiler", metavar="COMMAND", help="C++20 compiler (default: CXX, c++, g++, clang++, zig)")
    parser.add_argument("--target", choices=TARGETS, help="platform to compile for, with zig (default: this machine)")
    parser.add_argument("--out", type=Path, default=LIBRARIES, help="folder of the libraries (default: %(default)s)")
    parser.add_argument("--werror", action="store_true", help="enable warnings and treat them as errors")
    options = parser.parse_args()
    target = TARGETS.get(options.target)
    try:
        built = build(options.out, target=target, command=options.compiler, werror=options.werror)
    except BuildError as error:
        sys.exit(f"error: {error}")
    print(f"{built['compiler']}: {', '.join(built['files'])} in {options.out}")


if __name__ == "__main__":
    main()
