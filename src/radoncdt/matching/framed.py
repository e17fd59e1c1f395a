"""Measures that are described and framed, so that they can be registered and then compared point by point."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._interface import Bending
from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors, describe_batch
from radoncdt.matching.distortion import BentPairs, compare_bent
from radoncdt.matching.frames import Canvases, make_canvases
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.measures import Batch

__all__ = ["Frame", "Framed"]

_SMALL = 28  # points along a side; parts of larger frames may move farther


@dataclass(frozen=True)
class Frame:
    """The frame on which images are compared."""

    side: int  # number of points along a side
    bending: Bending

    @classmethod
    def read(cls, frame_size: object, window: object) -> "Frame":
        """Check the number of points along a side and the largest displacement of a part, None for the usual one."""
        side = _validation.check_count(frame_size, "frame_size", 8, 256)
        usual = 2 if side <= _SMALL else 3
        return cls(side, Bending(window=_validation.check_count(usual if window is None else window, "window", 0, 8)))


@dataclass(frozen=True)
class Framed:
    """Descriptors of measures, and canvases from which their frames are sampled."""

    descriptors: Descriptors
    canvases: Canvases
    frame: Frame

    @classmethod
    def describe(cls, batch: Batch, settings: DescriptorSettings, frame: Frame, n_jobs: int | None) -> "Framed":
        """Describe measures. Their descriptors have values in float32."""
        descriptors = describe_batch(batch, settings, n_jobs).astype(np.float32)
        return cls(descriptors, make_canvases(batch, descriptors, frame.side, n_jobs), frame)

    def __len__(self) -> int:
        return len(self.canvases)

    def __getitem__(self, chosen: NDArray[np.intp]) -> "Framed":
        return Framed(self.descriptors[chosen], self.canvases[chosen], self.frame)

    def compare(
        self, fixed: "Framed", pairs: NDArray[np.intp], turns: NDArray[np.int64], n_jobs: int | None
    ) -> BentPairs:
        """Compare pairs (n, 2) of a measure and a fixed one, registered by the turns (n,) of the whitened plane."""
        return compare_bent(
            self.canvases,
            fixed.canvases,
            pairs,
            turns,
            self.descriptors.settings.n_angles,
            side=self.frame.side,
            bending=self.frame.bending,
            n_jobs=n_jobs,
        )

    def make_registration(
        self, fixed: "Framed", pair: tuple[int, int], frame_map: Floats, distance: float
    ) -> Registration:
        """Return the map between two measures, from the map (2, 3) from the frame of the fixed one to pixels."""
        i, j = pair
        to_pixels = self.canvases.to_pixels[i]
        back = np.linalg.inv(to_pixels[:, :2])
        frame = back @ frame_map
        frame[:, 2] -= back @ to_pixels[:, 2]  # from the frame of the fixed measure to the plane of the other
        matrix = fixed.canvases.roots[j] @ np.linalg.inv(frame[:, :2])
        shift = fixed.canvases.means[j] - matrix @ frame[:, 2]
        (height, width), (fixed_height, fixed_width) = (
            some.descriptors.frames[at].tolist() for some, at in ((self, i), (fixed, j))
        )
        frames = (height, width), (fixed_height, fixed_width)
        return Registration(matrix, shift, distance, bool(np.linalg.det(matrix) < 0), frames=frames)
