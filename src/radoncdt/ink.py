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

    Colours are read as grey; what is transparent is paper. The brightness of the paper, the median along the border of
    the image, becomes 0, and the ink furthest from it becomes 1.

    Parameters
    ----------
    path : str or Path
        Any file that Pillow reads; of several frames the first.
    ink : {"auto", "dark", "bright"}
        Whether ink is darker or brighter than paper. "auto": darker, if the paper is brighter than the middle grey
        between the darkest and the brightest pixel.

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
    seen = opacity > 0
    if not seen.any():
        raise InkError(f"{path}: the image is all transparent")
    low, high = float(grey[seen].min()), float(grey[seen].max())
    border = np.concatenate([grey[0], grey[-1], grey[1:-1, 0], grey[1:-1, -1]])
    clear = np.concatenate([opacity[0], opacity[-1], opacity[1:-1, 0], opacity[1:-1, -1]]) == 0
    if clear.mean() > 0.5:  # ink on nothing: whatever is opaque is ink
        return opacity
    paper = float(np.median(border[~clear]))
    dark = ink == "dark" or (ink == "auto" and paper >= (low + high) / 2)
    mass = np.maximum(paper - grey, 0) if dark else np.maximum(grey - paper, 0)
    mass *= opacity
    if not mass.any():
        raise InkError(f"{path}: no pixel is {'darker' if dark else 'brighter'} than the paper")
    result: NDArray[np.float32] = mass / mass.max()
    return result


def _grey(path: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Brightness from 0 to 1 and opacity from 0 to 1 of the pixels."""
    import warnings

    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as file:
                file.load()
                deep = file.mode in ("I", "F") or file.mode.startswith("I;16")
                values = np.asarray(file if deep else file.convert("LA"))
    except FileNotFoundError:
        raise InkError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InkError(f"{path}: is a folder, not an image") from None
    except UnidentifiedImageError:
        raise InkError(f"{path}: is no image that Pillow knows") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InkError(f"{path}: is too large: {error}") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise InkError(f"{path}: cannot be read: {error}") from None
    if not deep:
        grey, opacity = np.moveaxis(values, -1, 0).astype(np.float32) / np.float32(255)
        return grey, opacity
    grey = values.astype(np.float32)
    if not np.isfinite(grey).all():
        raise InkError(f"{path}: some pixels are not finite")
    low, high = grey.min(), grey.max()
    return (grey - low) / max(high - low, np.float32(1e-30)), np.ones_like(grey)


def image_files(paths: list[Any]) -> list[Path]:
    """The files among paths, and the image files in the folders among them, sorted."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        else:
            found.append(path)
    return found
