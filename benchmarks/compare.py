"""Compare radoncdt with other libraries in one run and one thread: speed, memory, accuracy, invariance, recognition.

    python -m benchmarks compare [PART …] [--quick] [--out FILE.json]

Every library is used as shipped and tuned; see ``peers``. A library that is not installed is listed with the reason.
The features are the mNR-CDT. The package ``comparison`` has one module per part. The results are written to
benchmarks/results.json. From them, ``python -m benchmarks comparison_page`` and ``python -m benchmarks
comparison_plots`` make docs/results/benchmarks.md and its pictures. --quick compares with
scikit-image alone, at one size, and writes nothing unless --out is given.
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
from benchmarks.comparison.accuracy import measure_accuracy
from benchmarks.comparison.angles import measure_angles
from benchmarks.comparison.invariance import measure_invariance
from benchmarks.comparison.memory import measure_memory
from benchmarks.comparison.recognition import measure_recognition
from benchmarks.comparison.scaling import measure_scaling
from benchmarks.comparison.speed import measure_speed
from benchmarks.comparison.stages import measure_stages
from benchmarks.peers import Peer, load_peers
from benchmarks.report import add_parts, check_parts, make_parser, write_text
from radoncdt import _kernels

Part = Callable[[list[Peer], bool], Iterator[Record]]
PARTS: dict[str, Part] = {
    "speed": measure_speed,
    "angles": measure_angles,
    "stages": measure_stages,
    "scaling": measure_scaling,
    "memory": measure_memory,
    "accuracy": measure_accuracy,
    "invariance": measure_invariance,
    "recognition": measure_recognition,
}
NOT_QUICK = ("angles", "stages", "scaling", "memory")
"""Parts that --quick leaves out unless they are named."""


def name_processor() -> str:
    """Return the name of the processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
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
    """Format the figures of a record, or the reason why there are none."""
    figures = (f"{key} {value:.4g}" for key, value in each.items() if isinstance(value, float))
    return each.get("left_out") or ", ".join(figures)


def main(arguments: Sequence[str]) -> int:
    parser = make_parser(__name__, __doc__)
    add_parts(parser, list(PARTS))
    parser.add_argument("--quick", action="store_true", help="compare with scikit-image alone, at one size")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="file of results (default: results.json here)")
    options = parser.parse_args(arguments)
    check_parts(parser, options.parts, list(PARTS))
    warnings.simplefilter("ignore")  # other libraries raise warnings
    found = [peer for peer in load_peers() if not options.quick or peer.name in (OURS, "scikit-image")]
    for peer in found:
        if peer.missing:
            print(f"{peer.name} cannot be imported: {peer.missing}")
    out = options.out or (None if options.quick else RESULTS)
    try:  # before an hour of work rather than after it
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
