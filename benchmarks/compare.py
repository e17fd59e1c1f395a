"""radoncdt beside other libraries: speed, memory, accuracy, invariance and recognition, one thread each, in one run.

    python benchmarks/compare.py [PART …] [--quick] [--out FILE.json]

Every library is used as shipped and tuned, see ``peers``; one that is not installed is named, with the reason. The
features are the mNR-CDT. What is measured is in ``comparison``, one file a part. Writes benchmarks/results.json;
``benchmarks/page.py`` and ``plots.py`` make docs/benchmarks.md, its pictures and the figures of README.md of it.
--quick compares with scikit-image alone, at one size, and writes nothing unless told where.
"""

import argparse
import json
import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from comparison import OURS, RESULTS, Record
from comparison.accuracy import accuracy
from comparison.angles import angles
from comparison.invariance import invariance
from comparison.memory import memory
from comparison.recognition import recognition
from comparison.scaling import scaling
from comparison.speed import speed
from comparison.stages import stages
from peers import Peer, peers
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from radoncdt import _kernels
from radoncdt._files import write_atomically

Part = Callable[[list[Peer], bool], Iterator[Record]]
PARTS: dict[str, Part] = {
    part.__name__: part for part in (speed, angles, stages, scaling, memory, accuracy, invariance, recognition)
}
NOT_QUICK = ("angles", "stages", "scaling", "memory")


def processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def setup(found: list[Peer]) -> Record:
    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    below = ("radoncdt", "numpy", "scipy", "torch", "torchskradon")
    packages = [*below, *(peer.package for peer in found if peer.name != OURS)]
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": processor(),
        "kernels": _kernels.current_name(),
        "versions": {package: installed(package) for package in packages},
        "missing": {peer.name: peer.missing for peer in found if peer.missing},
    }


def results_so_far(path: Path) -> Record:
    """What is in a file of results, if there is one; a ValueError for any other file, or no place to write to."""
    if not path.parent.is_dir():
        raise ValueError(f"--out must be in a folder that exists, got {path}")
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"setups": {}, "records": []}
    except (OSError, ValueError) as error:
        raise ValueError(f"--out must be new or a file of results, got {path}: {error}") from None
    if not isinstance(results, dict) or results.keys() != {"setups", "records"}:
        raise ValueError(f"--out must be new or a file of results, got {path}, which is another")
    return results


def shown(each: Record) -> str:
    figures = (f"{key} {value:.4g}" for key, value in each.items() if isinstance(value, float))
    return each.get("left_out") or ", ".join(figures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="with scikit-image alone, at one size")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where to write (results.json beside this)")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # of the peers
    found = [peer for peer in peers() if not options.quick or peer.name in (OURS, "scikit-image")]
    for peer in found:
        if peer.missing:
            print(f"{peer.name} cannot be imported: {peer.missing}")
    out = options.out or (None if options.quick else RESULTS)
    try:  # before an hour of work
        old = results_so_far(out or RESULTS)
    except ValueError as error:
        parser.error(str(error))
    kept, setups = old["records"], old["setups"]
    for part in options.parts or [part for part in PARTS if not options.quick or part not in NOT_QUICK]:
        records = []
        with threadpool_limits(1), tqdm(desc=part, unit=" figures", disable=None) as bar:
            for each in PARTS[part](found, options.quick):
                records.append(each)
                bar.update()
                bar.write(f"{part:11s} {each['case']:48s} {each['peer']:12s} {each['form']:19s} {shown(each)}")
        if out is not None:  # after each part; those that are not measured again are kept
            kept = [record for record in kept if record["part"] != part] + records
            kept.sort(key=lambda record: list(PARTS).index(record["part"]))
            setups = {name: setups[name] for name in PARTS if name in setups} | {part: setup(found)}
            text = json.dumps({"setups": setups, "records": kept}, indent=1, ensure_ascii=False) + "\n"
            write_atomically(out, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
            print(out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
