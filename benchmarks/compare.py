"""radoncdt beside other libraries: speed, memory, accuracy, invariance and recognition, in one thread and in one run.

    python -m benchmarks compare [PART …] [--quick] [--out FILE.json]

Every library is used as shipped and tuned; see ``peers``. A library that is not installed is listed with the reason.
The features are the mNR-CDT. The package ``comparison`` has one module per part. The results are written to
benchmarks/results.json. From them, ``python -m benchmarks page`` and ``python -m benchmarks plots`` make
docs/benchmarks.md, its pictures and the figures in README.md. --quick compares with scikit-image alone, at one size,
and writes nothing unless --out is given.
"""

import json
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from benchmarks.comparison import OURS, RESULTS, Record
from benchmarks.comparison.accuracy import accuracy
from benchmarks.comparison.angles import angles
from benchmarks.comparison.invariance import invariance
from benchmarks.comparison.memory import memory
from benchmarks.comparison.recognition import recognition
from benchmarks.comparison.scaling import scaling
from benchmarks.comparison.speed import speed
from benchmarks.comparison.stages import stages
from benchmarks.peers import Peer, load_peers
from benchmarks.report import add_parts, check_parts, make_parser, write_text
from radoncdt import _kernels

Part = Callable[[list[Peer], bool], Iterator[Record]]
PARTS: dict[str, Part] = {
    part.__name__: part for part in (speed, angles, stages, scaling, memory, accuracy, invariance, recognition)
}
NOT_QUICK = ("angles", "stages", "scaling", "memory")
"""Parts that --quick leaves out unless they are named."""


def name_processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def describe_setup(found: list[Peer]) -> Record:
    """Describe the machine and the versions of the libraries."""

    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    foundations = ("radoncdt", "numpy", "scipy", "torch", "torchskradon")
    packages = [*foundations, *(peer.package for peer in found if peer.name != OURS)]
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": name_processor(),
        "kernels": _kernels.current_name(),
        "versions": {package: installed(package) for package in packages},
        "missing": {peer.name: peer.missing for peer in found if peer.missing},
    }


def read_results(path: Path) -> Record:
    """Read the file of results that will be updated; raise a ValueError if it cannot be one."""
    if not path.parent.is_dir():
        raise ValueError(f"--out must be in an existing folder, got {path}")
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"setups": {}, "records": []}
    except (OSError, ValueError) as error:
        raise ValueError(f"--out must be a new file or a file of results, got {path}: {error}") from None
    if not isinstance(results, dict) or results.keys() != {"setups", "records"}:
        raise ValueError(f"--out must be a new file or a file of results, got {path}")
    return results


def format_figures(each: Record) -> str:
    figures = (f"{key} {value:.4g}" for key, value in each.items() if isinstance(value, float))
    return each.get("left_out") or ", ".join(figures)


def main(arguments: Sequence[str]) -> int:
    parser = make_parser(__name__, __doc__)
    add_parts(parser, list(PARTS))
    parser.add_argument("--quick", action="store_true", help="compare with scikit-image alone, at one size")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="file of results (default: results.json here)")
    options = parser.parse_args(arguments)
    check_parts(parser, options.parts, list(PARTS))
    warnings.simplefilter("ignore")  # other libraries warn
    found = [peer for peer in load_peers() if not options.quick or peer.name in (OURS, "scikit-image")]
    for peer in found:
        if peer.missing:
            print(f"{peer.name} cannot be imported: {peer.missing}")
    out = options.out or (None if options.quick else RESULTS)
    try:  # now rather than after an hour of work
        old = read_results(out or RESULTS)
    except ValueError as error:
        parser.error(str(error))
    kept, setups = old["records"], old["setups"]
    for part in options.parts or [part for part in PARTS if not options.quick or part not in NOT_QUICK]:
        records = []
        with threadpool_limits(1), tqdm(desc=part, unit=" figures", disable=None) as bar:
            for each in PARTS[part](found, options.quick):
                records.append(each)
                bar.update()
                bar.write(f"{part:11s} {each['case']:48s} {each['peer']:12s} {each['form']:19s} {format_figures(each)}")
        if out is not None:  # after each part; the figures of other parts are kept
            kept = [record for record in kept if record["part"] != part] + records
            kept.sort(key=lambda record: list(PARTS).index(record["part"]))
            setups = {name: setups[name] for name in PARTS if name in setups} | {part: describe_setup(found)}
            write_text(out, json.dumps({"setups": setups, "records": kept}, indent=1, ensure_ascii=False) + "\n")
            print(out)
    return 0
