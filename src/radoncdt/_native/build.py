"""Compile the kernels into the libraries that radoncdt loads.

All C++ files of this folder are compiled once per instruction set. The libraries go to ``lib/``, beside ``build.json``,
which names the sources, the compiler and the flags that they were made with. There is one library per instruction set
rather than one library that chooses inside: the linker keeps only one copy of an inline function, and a copy that was
compiled for AVX2 would crash older processors.

The build hook (hatch_build.py) runs this file when a wheel is built. In a development checkout, the loader calls
`ensure_current`. Wheels do not contain this file. It needs only the standard library, and imports nothing of radoncdt.
Modules that only a build needs are imported where they are used, so that checking the libraries stays fast.
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

HERE = Path(__file__).resolve().parent
LIBRARIES = HERE / "lib"

FLAGS = (
    "-std=c++20",
    "-O3",
    "-fvisibility=hidden",  # only the functions that kernels.h declares are exported
    # The kernels use nothing of the C++ runtime library, so that the libraries depend on libc and libm only.
    "-fno-exceptions",
    "-fno-rtti",
    # Floating point. Results may not depend on what a compiler likes to fuse or reorder: a product and a sum are fused
    # only where vectors.h says so, and -ffast-math is not used. In particular, denormal numbers keep their IEEE
    # meaning: -ffast-math could switch them off for the whole process.
    "-ffp-contract=off",
    "-fno-math-errno",  # nothing reads errno, and sqrt becomes one instruction
    "-fno-trapping-math",  # nothing reads the flags of floating-point exceptions, and loops with a choice vectorise
    "-Wno-psabi",  # GCC notes that 32-byte arguments are passed differently with AVX; no interface has any
)
INSTRUCTION_SETS = {
    "baseline": (),  # what every processor of the platform has: SSE2 for x86-64, NEON for arm64
    # More compilers know these options than -march=x86-64-v3 and -march=x86-64-v4.
    "avx2": ("-mavx2", "-mfma"),  # about twice as fast
    # about a fifth faster than AVX2 in double
    "avx512": ("-mavx2", "-mfma", "-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"),
}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")

ZIGLANG = "ziglang>=0.13,<0.18"
"""The compiler from PyPI: clang with the headers and libraries of all platforms in `TARGETS`."""

# What a compiler must be able to do. GCC for Windows does not align 32-byte vectors on the stack (GCC bug 54412).
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
    """What zig calls the platform, with the oldest version of the system that the libraries run on."""
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
    """A C++ compiler: the command that runs it, and what it says its version is."""

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
        # zig builds the C++ runtime library, for more than a minute, unless it links as if for C.
        command = [*self._driver("cc", target), "-shared"]
        if target.system == "macos":
            return [*command, "-Wl,-dead_strip_dylibs", f"-Wl,-install_name,@rpath/{name}"]
        if target.system == "windows":
            return [*command, "-s"]
        # GCC and clang offer the C++ runtime library to the linker, which leaves it out because nothing needs it.
        return [*command, "-s", "-Wl,--as-needed", "-Wl,-z,defs"]

    def _driver(self, language: str, target: Target) -> list[str]:
        if self.is_zig:
            # Without a target and a processor, zig compiles for the processor of this machine. Its checks for
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
    # Python for x86-64 may run on Windows for arm64.
    machine = sysconfig.get_platform().removeprefix("win-") if sys.platform == "win32" else platform.machine()
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)
    system = {"win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    if system == "linux" and "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
        system = "musl"
    name = f"{system}-{machine}"
    return TARGETS.get(name) or Target(name, "", "")


def find_compiler(target: Target | None = None, command: str | None = None) -> Compiler:
    """A C++20 compiler for a target, by default for this machine.

    For this machine, the compiler is `command`, or else what the environment variable CXX names, or else the first of
    c++, g++, clang++ and zig (from the package ziglang) that is there. Other targets are compiled by zig.

    Raises
    ------
    NoCompilerError
        If none of c++, g++ and clang++ can compile and link a small library, and ziglang is not installed.
    BuildError
        If the compiler that was chosen by `command` or CXX cannot do so.
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
                return _tested(words)
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
    """SHA-256 of the names and contents of all files that the libraries depend on."""
    digest = hashlib.sha256()
    for path in sorted([*HERE.glob("*.cpp"), *HERE.glob("*.h"), HERE / "build.py"]):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def ensure_current() -> Path:
    """The folder of the libraries of this machine, which are compiled first unless they are of the present sources.

    Raises
    ------
    NoCompilerError
        If they have to be compiled and there is no compiler.
    BuildError
        If they cannot be compiled.
    """
    while not is_current(LIBRARIES):  # the sources may change again during a build
        build(LIBRARIES, unless=is_current)
    return LIBRARIES


def write_reason(folder: Path, reason: str) -> None:
    """Leave a note for the package that there are no libraries, and why; `_kernels.explain_missing` reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "build.json").write_text(json.dumps({"missing": reason, "files": []}) + "\n", "utf-8")


def forget_reason(folder: Path) -> None:
    """Remove such a note."""
    if not is_current(folder):
        (folder / "build.json").unlink(missing_ok=True)


def is_current(folder: Path) -> bool:
    """Whether a folder has the libraries of the present sources for this machine."""
    try:
        built = json.loads((folder / "build.json").read_bytes())
        is_here = built["target"] == native_target().name  # and not of a container that shares the folder
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
    """Compile the libraries of a target, by default of this machine, into a folder.

    Processes that build into the same folder wait for each other. ``build.json`` is written last: if it is there, the
    libraries are complete.

    Parameters
    ----------
    folder : Path
        Where the libraries go.
    target : Target, optional
        The platform to compile for, with zig.
    command : str, optional
        The compiler to use, instead of those of `find_compiler`.
    werror : bool
        Whether warnings are errors.
    unless : callable, optional
        Nothing is built if this returns True for the folder once no other process is building.

    Returns
    -------
    dict
        The content of ``build.json``.
    """
    import shutil
    import tempfile

    description = folder / "build.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / ".lock"):
            if unless is not None and unless(folder):
                return dict(json.loads(description.read_bytes()))
            compiler = find_compiler(target, command)
            if unless is not None:  # a call of the package waits for this
                print("radoncdt: compiling the kernels, which takes about ten seconds", file=sys.stderr)
            for left in folder.glob(".build-*"):  # by builds that were killed
                shutil.rmtree(left, ignore_errors=True)
            # The name is new each time, because compilers of a build that was killed may still be writing.
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
    """Compile and link sources for all instruction sets, in a folder; returns the names of the libraries."""
    from concurrent.futures import ThreadPoolExecutor

    # zig writes more than 100 MB, which are not left behind, unless the user says where.
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


def _tested(command: tuple[str, ...]) -> Compiler:
    """The compiler that a command runs, if it makes a library of `TRIAL`; raises BuildError otherwise."""
    import tempfile

    compiler = Compiler(command, "")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "trial.cpp")
        source.write_text(TRIAL, "utf-8")
        make_libraries(Path(folder), compiler, native_target(), [source], ())
    return Compiler(command, _run([*command, "--version"]).partition("\n")[0].strip())


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """What a command prints; raises BuildError, with the command and what it printed, if it fails."""
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
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out that lock the same file. The system unlocks it when a process dies."""
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
    """The command line."""
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
