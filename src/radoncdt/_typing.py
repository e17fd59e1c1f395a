"""Types that many modules share."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "OnProgress", "Seed"]

Floats: TypeAlias = NDArray[np.float64]
"""An array of float64."""

Seed: TypeAlias = int | np.random.Generator
"""The seed of a new random generator, or a generator, whose state advances."""

OnProgress: TypeAlias = Callable[[int, int, str], None]
"""Called as ``on_progress(done, total, task)`` during long work; `task` says in words what is being done."""
