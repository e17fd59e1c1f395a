"""Characters of fonts as images."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._extras import require
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.datasets.lines import Image

__all__ = ["Font", "glyphs", "list_fonts", "read_font", "shared_characters"]

_PROBE_SIZE = 24  # pixels; characters drawn at this size tell whether a font has them
_MARGIN = 0.1  # margin around a character, as a share of the size of the font
_SUFFIXES = {".ttf", ".otf", ".ttc", ".otc"}
_SYMBOLS = {"Last Resort High-Efficiency", "cmex10", "cmsy10"}  # families with other signs in the places of capitals
_MISSING = "\U0010fffe"  # not a character, so every font draws its sign for a missing one
_CAPITALS = [chr(code) for code in range(ord("A"), ord("Z") + 1)]


@dataclass(frozen=True)
class Font:
    """A face of a font file.

    Parameters
    ----------
    path : Path
        The font file.
    index : int
        The number of the face in the file; files other than collections have only face 0.
    family : str
        The name of the family, such as "DejaVu Sans".
    style : str
        The name of the style, such as "Bold".

    See Also
    --------
    list_fonts : List the fonts at hand.
    read_font : Read the names of a font file.

    Examples
    --------
    >>> from pathlib import Path
    >>> datasets.Font(Path("DejaVuSans-Bold.ttf"), 0, "DejaVu Sans", "Bold").name
    'DejaVu Sans Bold'
    """

    path: Path
    index: int
    family: str
    style: str

    @property
    def name(self) -> str:
        """The family and the style, such as "DejaVu Sans Bold"."""
        return f"{self.family} {self.style}"


def read_font(path: str | os.PathLike[str], index: int = 0) -> Font:
    """Read the names of a face of a font file.

    Parameters
    ----------
    path : path
        A file that Pillow can read, such as .ttf, .otf or .ttc.
    index : int, default 0
        The face in a collection, such as a .ttc file.

    Returns
    -------
    Font
        The face, with its family and its style.

    Raises
    ------
    ValueError
        If there is no such file, it is not a font, or it does not have this face.

    See Also
    --------
    list_fonts : List the fonts at hand.

    Examples
    --------
    >>> font = datasets.list_fonts(system=False)[0]
    >>> datasets.read_font(font.path) == font
    True
    """
    index = _validation.check_count(index, "index", 0)
    family, style = _load(Path(path), index, _PROBE_SIZE).getname()
    return Font(Path(path), index, str(family), str(style))


def _load(path: Path, index: int, size: int) -> Any:
    require("PIL", "drawing characters", extra="watermarks")
    from PIL import ImageFont

    if not path.is_file():
        raise ArgumentValueError("font", f"must be a font file, got {str(path)!r}, which does not exist")
    try:
        return ImageFont.truetype(str(path), size, index, layout_engine=ImageFont.Layout.BASIC)
    except (OSError, ValueError) as problem:
        face = f", face {index}" if index else ""
        raise ArgumentValueError("font", f"must be a font file, got {str(path)!r}{face} ({problem})") from problem


def list_fonts(folders: Sequence[str | os.PathLike[str]] = (), *, system: bool = True) -> list[Font]:
    """List fonts with all Latin capitals: those that matplotlib carries, those in folders, and those of the system.

    Of a collection, only the first face is listed, and fonts of the same family and style are listed once.

    Parameters
    ----------
    folders : sequence of paths, default ()
        Folders that are searched together with their subfolders.
    system : bool, default True
        Whether to list the fonts that are installed on the system.

    Returns
    -------
    list of Font
        The fonts in the order of their names.

    See Also
    --------
    read_font : Read one font file.
    glyphs : Draw characters of a font.

    Examples
    --------
    >>> fonts = datasets.list_fonts(system=False)
    >>> "DejaVu Sans Book" in [font.name for font in fonts]
    True
    """
    found: dict[str, Font] = {}
    for folder in [*_matplotlib_folders(), *map(Path, folders), *(_system_folders() if system else ())]:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() not in _SUFFIXES or not path.is_file():
                continue
            try:
                font = read_font(path)
            except ArgumentValueError:  # a format that Pillow cannot read
                continue
            if font.name in found or font.family in _SYMBOLS:
                continue
            if len(shared_characters([font], _CAPITALS)) == len(_CAPITALS):
                found[font.name] = font
    return [found[name] for name in sorted(found)]


def _matplotlib_folders() -> list[Path]:
    """Return the folder of the fonts that matplotlib carries, without importing it; none if it is not installed."""
    package = find_spec("matplotlib")
    places = package.submodule_search_locations or [] if package else []
    return [Path(place, "mpl-data", "fonts", "ttf") for place in places]


def _system_folders() -> Iterator[Path]:
    """Yield the folders where the system keeps its fonts."""
    home = Path.home()
    if sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", r"C:\Windows"), "Fonts")
        yield Path(os.environ.get("LOCALAPPDATA", home), "Microsoft", "Windows", "Fonts")
    elif sys.platform == "darwin":
        yield from (Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts")
    else:
        yield from (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
        yield from (Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share", "fonts"), home / ".fonts")


def shared_characters(fonts: Sequence[Font], characters: Iterable[str]) -> list[str]:
    """Select the characters that all fonts draw, each with at least some ink.

    Parameters
    ----------
    fonts : sequence of Font
        The fonts.
    characters : str or iterable of str
        The characters to select from.

    Returns
    -------
    list of str
        The characters that all fonts have, in the order given.

    See Also
    --------
    glyphs : Draw characters of a font.

    Examples
    --------
    >>> datasets.shared_characters(datasets.list_fonts(system=False)[:1], "A B\N{CJK UNIFIED IDEOGRAPH-4E00}")
    ['A', 'B']
    """
    shared = list(characters)
    for font in fonts:
        loaded = _load(font.path, font.index, _PROBE_SIZE)
        missing = bytes(loaded.getmask(_MISSING))
        drawn = {character: bytes(loaded.getmask(character)) for character in shared}
        shared = [character for character, mask in drawn.items() if any(mask) and mask != missing]
    return shared


def glyphs(font: Font | str | os.PathLike[str], characters: Iterable[str], *, size: int = 64) -> list[Image]:
    """Draw characters of a font, white on black.

    Parameters
    ----------
    font : Font or path
        A font, or a file with one, whose first face is drawn.
    characters : str or iterable of str
        The characters to draw, one image each.
    size : int, default 64
        Size of the font, in pixels.

    Returns
    -------
    list of float32 arrays (H, W)
        The images, with values from 0 to 1. Each has an empty margin of a tenth of `size`.

    Raises
    ------
    TypeError, ValueError
        If there is no such font, or the font does not draw one of the characters.

    See Also
    --------
    shared_characters : Select the characters that fonts have.
    draw : Draw lines.

    Examples
    --------
    >>> fonts = datasets.list_fonts(system=False)
    >>> a, b = datasets.glyphs(fonts[0], "AB", size=40)
    >>> bool(a.max() == 1.0 and a.shape[0] > 30)
    True
    """
    if not isinstance(font, Font):
        if not isinstance(font, (str, os.PathLike)):
            raise ArgumentTypeError("font", f"must be a Font or the path of a font file, got {type(font).__name__}")
        font = read_font(font)
    _validation.check_count(size, "size", 4, 4096)
    loaded = _load(font.path, font.index, size)
    margin = int(np.ceil(_MARGIN * size))
    missing = bytes(loaded.getmask(_MISSING))
    images = []
    for character in characters:
        if not isinstance(character, str):
            raise ArgumentTypeError("characters", f"must be a text or several texts, got {character!r}")
        mask = loaded.getmask(character)
        pixels: NDArray[Any] = np.array(mask, np.float32).reshape(mask.size[::-1]) / 255
        if not pixels.any():
            raise ArgumentValueError("characters", f"must have ink in the font {font.name}, got {character!r}")
        if bytes(mask) == missing:
            raise ArgumentValueError("characters", f"must be in the font {font.name}, got {character!r}")
        images.append(np.pad(pixels, margin))
    return images
