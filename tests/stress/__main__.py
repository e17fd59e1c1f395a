"""Run all or some parts, and report which requirements are broken."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from stress import damage, interleaved, kills, threads, writers
from stress.findings import Findings

TITLES = {
    "a": "ten processes, and pairs of commands",
    "b": "zeroed pages",
    "c": "flipped bits",
    "d": "killed commands",
    "e": "four threads",
}


def run_a(folder: Path, options: argparse.Namespace) -> Findings:
    """Run ten writing processes, and then pairs of commands."""
    findings = writers.run(folder / "writers", options.seconds, options.seed)
    print("  a: pairs of commands", flush=True)
    findings.merge(interleaved.run(interleaved.make(folder / "pairs", options.seed), most=12, slow=3))
    return findings


def run_b(folder: Path, options: argparse.Namespace) -> Findings:
    """Zero every page of a catalogue."""
    made = damage.make(folder / "whole", options.seed)
    return damage.run("b", made, damage.pages((made / "marks.db").read_bytes()))


def run_c(folder: Path, options: argparse.Namespace) -> Findings:
    """Flip bits of a catalogue."""
    made = damage.make(folder / "whole", options.seed)
    return damage.run("c", made, damage.flips(made / "marks.db", options.flips, options.seed))


def run_d(folder: Path, options: argparse.Namespace) -> Findings:
    """Kill commands that write."""
    return kills.run(folder, options.kills, options.seed)


def run_e(folder: Path, options: argparse.Namespace) -> Findings:
    """Share one catalogue object between threads."""
    return threads.run(folder, options.seed, seconds=options.seconds / 6)


PARTS: dict[str, Callable[[Path, argparse.Namespace], Findings]] = {
    "a": run_a,
    "b": run_b,
    "c": run_c,
    "d": run_d,
    "e": run_e,
}


def main() -> int:
    parser = argparse.ArgumentParser("stress", description="Stress tests of catalogues.")
    parser.add_argument("--part", default=",".join(PARTS), help="parts to run (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="duration of part a (default: %(default)s)")
    parser.add_argument("--flips", type=int, default=2000, help="bits to flip in part c (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=100, help="commands to kill in part d (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of random numbers (default: %(default)s)")
    options = parser.parse_args()
    chosen = options.part.split(",")
    if not set(chosen) <= set(PARTS):
        parser.error(f"--part must be a list of {','.join(PARTS)}, got {options.part}")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # for the processes that are started
    results: dict[str, tuple[Findings, float]] = {}
    for name in chosen:
        print(f"{name}: {TITLES[name]}", flush=True)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="radoncdt-stress-") as folder:
            findings = PARTS[name](Path(folder), options)
        results[name] = findings, time.monotonic() - begun
        _print_findings(findings)
    print(f"\n{'part':40} {'seconds':>8} {'commands':>9} {'broken requirements':>20}")
    for name, (findings, seconds) in results.items():
        done = findings.counts["commands"] + findings.counts["operations"] + 2 * findings.counts["pairs"]
        print(f"{f'{name}: {TITLES[name]}':40} {seconds:8.0f} {done:9,} {findings.broken.total():20,}")
    return 1 if any(findings.broken for findings, _ in results.values()) else 0


def _print_findings(findings: Findings) -> None:
    print("  " + ", ".join(f"{what}: {n:,}" for what, n in findings.counts.items()))
    for remark in findings.remarks:
        print(f"  remark: {remark}")
    for reason, n in findings.broken.most_common():
        example = " ".join(findings.examples[reason].split())
        print(f"  BROKEN {n:,} times: {reason}\n    {example}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
