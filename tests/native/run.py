"""Compile the kernels together with driver.cpp and run them: under sanitizers, or for arm64 in an emulator.

``make sanitize`` runs this file, which needs only the standard library and the compiler that build.py finds (CXX
chooses another). The kernels are compiled with the flags of build.py, once per instruction set that this machine has:

plain
    with warnings as errors;
address
    with AddressSanitizer and UndefinedBehaviorSanitizer;
thread
    with ThreadSanitizer.

``make sanitize-arm64`` passes --qemu-arm64: zig compiles for arm64 and qemu-aarch64 runs the driver, linked with the
kernels (for musl) and loading the library of the wheel (for glibc). Then it compares the results with those of this
machine.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

Command = list[str | Path]
Flags = tuple[str, ...]

HERE = Path(__file__).resolve().parent
DRIVER = HERE / "driver.cpp"
NATIVE = HERE.parents[1] / "src" / "radoncdt" / "_native"
SYSROOT = Path("/usr/aarch64-linux-gnu")  # of the Debian package libc6-arm64-cross

SANITIZED = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
)  # -O3 would remove accesses that a sanitizer should see
VARIANTS: dict[str, Flags] = {
    "plain": (),
    "address": (*SANITIZED, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": (*SANITIZED, "-fsanitize=thread"),
}
# Every report of a sanitizer fails the run.
SETTINGS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}

# Largest differences between the results of two platforms, as a share of the largest result of the case. Platforms
# differ in fused products, and in the sines and cosines of the C library. Masses and distances are in float for _f32.
ROUNDING = {"_f32": 1e-5, "": 1e-9}


def load_build() -> ModuleType:
    """Load build.py without importing the package."""
    spec = importlib.util.spec_from_file_location("radoncdt_build", NATIVE / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


build = load_build()


def check_complete() -> None:
    """Exit with an error if the driver does not call every exported kernel."""
    driver = DRIVER.read_text("utf-8")
    for source in sorted(NATIVE.glob("*.cpp")):
        exported = re.findall(r"RADONCDT_EXPORT[^(]*?\bradoncdt_(\w+)", source.read_text("utf-8"))
        for name in exported:
            if not re.search(rf"KERNEL\([^,]+, {name}\b", driver):
                sys.exit(f"error: {source.name} exports radoncdt_{name}, which {DRIVER.name} does not call")


def make_driver(
    folder: Path,
    compiler: Any,
    target: Any,
    instruction_set: str,
    extra: Flags = (),
    *,
    loads_kernels: bool = False,
    link: Flags = (),
) -> Path:
    """Compile the driver, and the kernels unless the driver loads them, in a new folder; return the program."""
    folder.mkdir(parents=True)
    sanitizers = [flag for flag in extra if flag.startswith("-fsanitize")]
    warnings = () if sanitizers else build.WARNINGS  # sanitizers cause false warnings
    command = compiler.compile(target, instruction_set, (*warnings, *extra))
    # The driver runs on every machine, and uses the C++ library.
    for_driver = compiler.compile(target, "baseline", (*warnings, *extra, f"-I{NATIVE}", "-pthread"))
    for_driver = [flag for flag in for_driver if flag not in ("-fno-exceptions", "-fno-rtti")]
    compilations = [[*for_driver, "-O1", str(DRIVER)]]  # -O3 would take long, and the driver is fast anyway
    if loads_kernels:
        compilations[0].insert(-1, "-DRADONCDT_DLOPEN")
    else:
        compilations += [[*command, str(source)] for source in sorted(NATIVE.glob("*.cpp"))]
    objects = [str(folder / f"{Path(words[-1]).stem}.o") for words in compilations]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(build._run, [[*words, "-o", made] for words, made in zip(compilations, objects)]))
    program = folder / "driver"
    linker = [*compiler._driver("c++", target), *sanitizers, *link, "-pthread"]
    build._run([*linker, *objects, "-o", str(program), *(["-ldl"] if loads_kernels else [])])
    return program


def run(title: str, command: Command) -> bool:
    """Run a driver and print its report below a title; return whether all cases passed."""
    print(f"--- {title}", flush=True)
    result = subprocess.run(command, env=SETTINGS | os.environ)
    if result.returncode != 0:
        print(f"--- {title} failed with exit code {result.returncode}", flush=True)
    return result.returncode == 0


def sanitize(folder: Path, arguments: list[str]) -> list[str]:
    """Run all variants for all instruction sets of this machine; return the titles of those that failed."""
    compiler, target = build.find_compiler(), build.native_target()
    print(f"{compiler.version}, {target.name}", flush=True)
    failed, instruction_sets = [], ["baseline"]
    for variant, extra in VARIANTS.items():
        for instruction_set in instruction_sets:
            title = f"{variant}, {instruction_set}"
            program = make_driver(folder / variant / instruction_set, compiler, target, instruction_set, extra)
            if (variant, instruction_set) == ("plain", "baseline"):
                # the loop continues with these: the first driver reports the instruction sets of the machine
                instruction_sets += subprocess.check_output([program, "--cpu"], text=True).split()
            if not run(title, [program, *arguments]):
                failed.append(title)
    return failed


def emulate(folder: Path, arguments: list[str]) -> list[str]:
    """Run the driver for arm64 and compare its results with those of this machine; return what failed."""
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    missing = []
    if emulator is None:
        missing.append("qemu-aarch64 (Debian: apt-get install qemu-user)")
    if importlib.util.find_spec("ziglang") is None:
        missing.append(f"zig ({sys.executable} -m pip install '{build.ZIGLANG}')")
    if not (SYSROOT / "lib").is_dir():
        missing.append(f"a C library for arm64 in {SYSROOT} (Debian: apt-get install libc6-arm64-cross)")
    if emulator is None or missing:
        sys.exit("error: missing for --qemu-arm64: " + "; ".join(missing))
    musl, glibc = build.TARGETS["musl-arm64"], build.TARGETS["linux-arm64"]
    zig, native = build.find_compiler(musl), build.find_compiler()
    print(f"{native.version}; {zig.version}; {emulator}", flush=True)
    here = make_driver(folder / "here", native, build.native_target(), "baseline")
    linked = make_driver(folder / "linked", zig, musl, "baseline", link=("-static",))
    loading = make_driver(folder / "loading", zig, glibc, "baseline", loads_kernels=True)
    build.build(folder / "library", target=glibc)
    library = folder / "library" / glibc.file_name("baseline")
    programs: dict[str, Command] = {
        "this machine, baseline": [here],
        "arm64, musl, kernels linked": [emulator, linked],
        "arm64, glibc, library of the wheel": [emulator, "-L", SYSROOT, loading, library],
    }
    failed, files = [], dict[str, Path]()
    for title, command in programs.items():
        files[title] = folder / f"{len(files)}.txt"
        if not run(title, [*command, *arguments, files[title]]):
            failed.append(title)
    reference, *others = files
    for title in others:
        print(f"--- {title}, compared with {reference}: largest differences, as shares of the largest result of a case")
        if not agree(files[reference], files[title]):
            failed.append(f"{title} compared")
    return failed


def read_results(path: Path) -> dict[str, dict[str, list[float]]]:
    """Read the results by kernel and case."""
    results: dict[str, dict[str, list[float]]] = {}
    for line in path.read_text("utf-8").splitlines():
        kernel, case, value = line.split()
        results.setdefault(kernel, {}).setdefault(case, []).append(float(value))
    return results


def agree(path: Path, other_path: Path) -> bool:
    """Print the differences of two files of results, kernel by kernel; return whether they are due to rounding."""
    good = True
    results, others = read_results(path), read_results(other_path)
    for kernel, cases in results.items():
        worst = 0.0
        for case, values in cases.items():
            other = others.get(kernel, {}).get(case, [])
            if len(other) != len(values):
                worst = float("inf")
                continue
            size = max(map(abs, values)) or 1.0
            worst = max(worst, max(abs(a - b) for a, b in zip(values, other)) / size)
        tolerance = ROUNDING["_f32" if kernel.endswith("_f32") else ""]
        verdict = "" if worst <= tolerance else f"  more than {tolerance:.0e}"
        good = good and not verdict
        print(f"{kernel:20} {sum(map(len, cases.values())):7} results  {worst:.1e}{verdict}", flush=True)
    return good


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run the kernels under sanitizers, or for arm64 in an emulator.")
    parser.add_argument("--qemu-arm64", action="store_true", help="compile for arm64 with zig and run with qemu")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random arguments (default: %(default)s)")
    parser.add_argument("--rounds", type=int, help="cases per kernel (default: 400, or 60 in the emulator)")
    options = parser.parse_args()
    rounds = options.rounds or (60 if options.qemu_arm64 else 400)
    check_complete()
    with tempfile.TemporaryDirectory(prefix="radoncdt-") as folder:
        try:
            failed = (emulate if options.qemu_arm64 else sanitize)(Path(folder), [str(options.seed), str(rounds)])
        except build.BuildError as error:
            sys.exit(f"error: {error}")
    if failed:
        sys.exit(f"error: failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
