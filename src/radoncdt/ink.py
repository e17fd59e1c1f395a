"""From an image file to a measure: the ink of a drawing or photograph."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _checks

INKS = ("auto", "dark", "bright")
SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"})
"""Files that are taken for images when a folder is read."""


class InkError(ValueError):
    """A file that holds no image, or an image that holds no ink."""


def read_ink(path: str | Path, *, ink: str = "auto") -> NDArray[np.float32]:
    """Read an image file as a measure: mass 0 for paper, up to 1 for ink.

    Colours are read as grey, turned as the camera was held; what is transparent is paper. Paper is what the border of
    the image shows: its median grey becomes 0, and so does whatever noise and uneven light there are along the border.
    The ink furthest from it becomes 1. So a drawing, a scan or a fairly evenly lit photograph can be read, with paper
    all around; stains and strong shadows stay.

    Parameters
    ----------
    path : str or Path
        Any file that Pillow reads; of several frames the first.
    ink : {"auto", "dark", "bright"}
        Whether ink is darker or brighter than paper. "auto": darker, if the paper is brighter than the middle grey
        between the darkest and the brightest pixel; on transparent ground, if any pixel is darker than middle grey.

    Returns
    -------
    float32 array (H, W)

    Raises
    ------
    InkError
        A ValueError: the message names the file and says why.
    """
    _checks.choice(ink, "ink", INKS)
    grey, opacity = _grey(Path(path))
    if not opacity.any():
        raise InkError(f"{path}: the image is all transparent")
    ground = 1.0 if ink == "dark" or (ink == "auto" and grey[opacity > 0].min() < 0.5) else 0.0
    grey = grey * opacity + np.float32(ground) * (1 - opacity)
    border = np.concatenate([grey[0], grey[-1], grey[1:-1, 0], grey[1:-1, -1]])
    paper = float(np.median(border))
    dark = ink == "dark" or (ink == "auto" and paper >= (float(grey.min()) + float(grey.max())) / 2)
    sign = np.float32(-1 if dark else 1)
    contrast, noise = sign * (grey - paper), 2.5 * np.quantile(sign * (border - paper), 0.95)
    floor = min(max(float(noise), 0.0), float(contrast.max()) / 2)  # ink that runs off the image is no noise
    mass = np.maximum(contrast - np.float32(floor), 0)
    if not mass.any():
        raise InkError(f"{path}: no pixel is {'darker' if dark else 'brighter'} than the paper")
    result: NDArray[np.float32] = mass / mass.max()
    return result


def _grey(path: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Brightness from 0 to 1 and opacity from 0 to 1 of the pixels."""
    import warnings

    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # twice as large is an error
            with Image.open(path) as file:
                turned = ImageOps.exif_transpose(file)
                deep = turned.mode in ("I", "F") or turned.mode.startswith("I;16")
                values = np.asarray(turned if deep else turned.convert("LA"))
    except FileNotFoundError:
        raise InkError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InkError(f"{path}: is a folder, not an image") from None
    except UnidentifiedImageError:
        what = "is empty" if path.stat().st_size == 0 else "is no image that Pillow knows"
        raise InkError(f"{path}: {what}") from None
    except Image.DecompressionBombError:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise InkError(f"{path}: has more than {most} pixels; reduce its size first") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise InkError(f"{path}: cannot be read: {error}") from None
    if not deep:
        grey, opacity = np.moveaxis(values, -1, 0).astype(np.float32) / np.float32(255)
        return grey, opacity
    deep_grey = values.astype(np.float64)
    if not np.isfinite(deep_grey).all():
        raise InkError(f"{path}: some pixels are not finite")
    low, high = deep_grey.min(), deep_grey.max()
    scaled = ((deep_grey - low) / (high - low if high > low else 1)).astype(np.float32)
    return scaled, np.ones_like(scaled)


def image_files(paths: list[Any]) -> list[Path]:
    """The files among paths, and the image files in the folders among them, sorted."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        else:
            found.append(path)
    return found
