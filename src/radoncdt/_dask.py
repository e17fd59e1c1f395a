"""Lazy transforms of Dask arrays, block by block."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from radoncdt import _validation
from radoncdt._validation import ArgumentTypeError, ArgumentValueError

__all__ = ["takes_dask_arrays"]

P = ParamSpec("P")
R = TypeVar("R")


def takes_dask_arrays(transform: Callable[P, R]) -> Callable[P, R]:
    """Decorate a transform from images (…, H, W) to an array (…, more axes), so that it also takes Dask arrays.

    The result is then a Dask array, in the same blocks along the leading axes. Blocks hold whole images.
    """

    @wraps(transform)
    def transform_either(*args: P.args, **options: P.kwargs) -> R:
        if not args or not type(args[0]).__module__.startswith("dask.array"):
            return transform(*args, **options)
        signature(transform).bind(*args, **options)  # refuses positional options
        result: R = _map_blocks(transform, args[0], options)
        return result

    return transform_either


def _map_blocks(transform: Callable[..., Any], images: Any, options: dict[str, Any]) -> Any:
    if images.ndim < 2:
        raise ArgumentValueError("images", f"must have shape (H, W) or (…, H, W), got {images.shape}")
    if images.dtype.kind not in "biuf":
        raise ArgumentTypeError(
            "images", f"must hold bool, integer or float numbers, got a Dask array of dtype {images.dtype}"
        )
    if np.isnan(images.shape[-2:]).any():
        raise ArgumentValueError(
            "images", f"must have a known height and width, got a Dask array of shape {images.shape}"
        )
    _validation.check_not_colour(images.shape, "images")
    sample = np.asarray(transform(np.ones((2, 2), images.dtype), **options))  # checks options, and has the right shape
    whole = images.rechunk({images.ndim - 2: -1, images.ndim - 1: -1})
    leading = images.ndim - 2
    return whole.map_blocks(
        transform,
        drop_axis=[leading, leading + 1],
        new_axis=list(range(leading, leading + sample.ndim)),
        chunks=(*whole.chunks[:leading], *((side,) for side in sample.shape)),
        dtype=sample.dtype,
        meta=np.empty((0,) * (leading + sample.ndim), sample.dtype),
        **options,
    )
