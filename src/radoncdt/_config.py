"""The configuration with which the package computes on this machine."""

from __future__ import annotations

import json
import platform
from typing import Any

from radoncdt import _kernels, _threads, _validation

__all__ = ["show_config"]


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Show which kernels, instruction set and number of threads are in use.

    The configuration is printed, or returned as a dictionary. Include it in reports of problems.

    Parameters
    ----------
    mode : {"stdout", "dict"}, default "stdout"
        Whether to print the configuration or to return it as a dictionary.

    Returns
    -------
    dict or None
        None with ``mode="stdout"``. With ``mode="dict"``, the dictionary has the version of the package; the name of
        the kernels in use ("avx512", "avx2" or "baseline" for compiled ones, or "numpy"); those available and, if there
        are no compiled ones, the reason; the compiler of the compiled ones; the number of threads that ``n_jobs=-1``
        stands for; and the versions of Python and NumPy.

    Raises
    ------
    ValueError
        If `mode` is unknown.

    Notes
    -----
    The environment variable RADONCDT_KERNELS selects kernels other than the fastest: ``avx512``, ``avx2``, ``baseline``
    or ``numpy``. It is read once, when kernels are first needed.

    Examples
    --------
    >>> show_config(mode="dict")["threads"] >= 1
    True
    """
    _validation.check_choice(mode, "mode", ("stdout", "dict"))
    config = _collect()
    if mode == "dict":
        return config
    print(_format(config))
    return None


def _collect() -> dict[str, Any]:
    import numpy as np

    import radoncdt

    return {
        "version": radoncdt.__version__,
        "kernels": _kernels.current_name(),
        "available": list(_kernels.available()),
        "missing": _kernels.explain_missing(),
        "compiler": _read_compiler(),
        "threads": _threads.count_threads(-1),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _read_compiler() -> str:
    """Return the name of the compiler of the libraries; empty if there are none."""
    from radoncdt._native import FOLDER

    try:
        return str(json.loads((FOLDER / "build.json").read_bytes())["compiler"])
    except (OSError, ValueError, KeyError):
        return ""


def _format(config: dict[str, Any]) -> str:
    if config["kernels"] == "numpy":
        reason = f"; {config['missing']}" if config["missing"] else ""
        kernels = f"NumPy, about {_kernels.NUMPY_SLOWDOWN} times slower than compiled ones{reason}"
    else:
        kernels = f"compiled, {config['kernels']} (available: {', '.join(config['available'])}; {config['compiler']})"
    rows = {
        "radoncdt": config["version"],
        "kernels": kernels,
        "threads": config["threads"],
        "Python": config["python"],
        "NumPy": config["numpy"],
    }
    return "\n".join(f"{name:9}{value}" for name, value in rows.items())
