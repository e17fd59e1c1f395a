"""Transforms of Dask arrays: nothing is computed before it is asked for, and then block by block."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from radoncdt import _validation
from radoncdt._validation import ArgumentTypeError, ArgumentValueError

P = ParamSpec("P")
R = TypeVar("R")


def takes_dask_arrays(transform: Callable[P, R]) -> Callable[P, R]:
    """A transform from images (…, H, W) to arrays (…, more axes) that takes Dask arrays of images, too.

    The result is a Dask array with the blocks of the leading axes; images are not cut.
    """

    @wraps(transform)
    def either(*args: P.args, **options: P.kwargs) -> R:
        images: Any = args[0] if args else options.get("images")
        if not type(images).__module__.startswith("dask.array"):
            return transform(*args, **options)
        signature(transform).bind(*args, **options)  # options have names
        result: R = _mapped(transform, images, options)
        return result

    return either


def _mapped(transform: Callable[..., Any], images: Any, options: dict[str, Any]) -> Any:
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
    _validation.not_in_colours(images.shape, "images")
    options = {name: value for name, value in options.items() if name != "images"}
    sample = np.asarray(transform(np.ones((2, 2), images.dtype), **options))  # checks the options, and tells the shape
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
