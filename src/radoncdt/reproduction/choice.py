"""What to reproduce: the parts of the paper and the studies, and their options."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radoncdt import _validation, datasets
from radoncdt._validation import ArgumentValueError
from radoncdt.reproduction import robustness
from radoncdt.reproduction.protocol import N_FOLDS, PROTOCOLS, SOURCES
from radoncdt.reproduction.recognition.glyph_study import GlyphStudy
from radoncdt.reproduction.recognition.sets import MAX_TRAIN, N_TEST
from radoncdt.reproduction.tables import TABLES

__all__ = ["MORE_PARTS", "PARTS", "Choice"]

PARTS = ("table1", *TABLES, "figures", "variants")
"""The parts of the paper, which "all" stands for."""

MORE_PARTS = ("robustness", "few-shot", "glyphs", "omniglot")
"""Parts that take long and run only on request."""


def _list_digits(table: str) -> tuple[tuple[int, ...], int]:
    """Return the digits that a table needs, and the smallest number of images of each one."""
    return SOURCES[table].classes["linmnist"], min(TABLES[table].sizes["linmnist"])


# the digits that a part needs, and the number of images of each one
_DIGITS = {
    "table2": _list_digits("table2"),
    "table4": _list_digits("table4"),
    "figures": _list_digits("table2"),
    "variants": _list_digits("table2"),
    "robustness": (tuple(range(10)), robustness.STUDIES["linmnist10"].class_size),
    "few-shot": (tuple(range(10)), MAX_TRAIN + N_TEST),
}


@dataclass(frozen=True)
class Choice:
    """What to reproduce.

    Parameters
    ----------
    parts : str or sequence of str, default "all"
        Some of "table1", "table2", "table3", "table4", "figures" and "variants", for which "all" stands, and of
        "robustness", "few-shot", "glyphs" and "omniglot", which take long.
    protocols : str or sequence of str, default "both"
        "published": images share random maps. "independent": every image has its own map. "both" stands for both.
    draws : int, default 10
        Number of random draws of every dataset.
    seed : int, default 0
        Seed of all random numbers.
    angles : sequence of int, optional
        Numbers of angles, instead of the paper's.
    sizes : sequence of int, optional
        Class sizes of Tables 3 and 4, multiples of ten, instead of the paper's.
    repetitions : int, default 20
        Number of random choices of the training images in the robustness study.
    quick : bool, default False
        Whether to measure less in the few-shot study: one draw, with one and five examples per class.
    glyphs : GlyphStudy, optional
        The fonts of the part "glyphs", and how many characters of them. This part needs it.
    data : sequence of paths, default ()
        The data of the part "omniglot": the official ``all_runs.zip``, or zip files or folders of background images,
        from which tasks are drawn. This part needs it.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or is out of its range, or a part lacks what it needs.

    See Also
    --------
    reproduce : Run the experiments of a choice.

    Examples
    --------
    >>> choice = reproduction.Choice(parts=("table4", "table2"), draws=3)
    >>> choice.parts, choice.protocols, choice.needs_digits
    (('table2', 'table4'), ('published', 'independent'), True)
    """

    parts: Sequence[str] | str = "all"
    protocols: Sequence[str] | str = "both"
    draws: int = 10
    seed: int = 0
    angles: Sequence[int] | None = None
    sizes: Sequence[int] | None = None
    repetitions: int = 20
    quick: bool = False
    glyphs: GlyphStudy | None = None
    data: Sequence[str | os.PathLike[str]] = ()

    def __post_init__(self) -> None:
        for name, usual, more, every in (("parts", PARTS, MORE_PARTS, "all"), ("protocols", PROTOCOLS, (), "both")):
            given = _validation.check_sequence(getattr(self, name), name, allow_string=True)
            for value in given:
                _validation.check_choice(value, name, (*usual, *more, every))
            wanted = {*given, *(usual if every in given else ())}
            object.__setattr__(self, name, tuple(option for option in (*usual, *more) if option in wanted))
        for name, least in (("draws", 1), ("repetitions", 1), ("seed", 0)):
            _validation.check_count(getattr(self, name), name, least)
        _validation.check_instance(self.quick, "quick", bool)
        if "glyphs" in self.parts:
            _validation.check_instance(self.glyphs, "glyphs", GlyphStudy)
        paths = (self.data,) if isinstance(self.data, (str, os.PathLike)) else self.data
        object.__setattr__(self, "data", tuple(map(os.fspath, paths)))
        if "omniglot" in self.parts and not self.data:
            raise ArgumentValueError("data", "must name a file or folder for the part omniglot, got none")
        for name, least in (("angles", 1), ("sizes", N_FOLDS)):
            if getattr(self, name) is not None:
                given = _validation.check_sequence(getattr(self, name), name)
                values = tuple(_validation.check_count(value, name, least) for value in given)
                if len(set(values)) < len(values):
                    raise ArgumentValueError(name, f"must be different numbers, got {list(values)}")
                for value in values:
                    if value % least:
                        problem = f"must be multiples of {least}, one part for each fold, got {value}"
                        raise ArgumentValueError(name, problem)
                object.__setattr__(self, name, values)

    @property
    def needs_digits(self) -> bool:
        """Whether one of the parts needs MNIST digits.

        Examples
        --------
        >>> reproduction.Choice(parts="table3").needs_digits, reproduction.Choice(parts="table4").needs_digits
        (False, True)
        """
        return not _DIGITS.keys().isdisjoint(self.parts)

    def check_digits(self, mnist: datasets.Mnist) -> None:
        """Raise an error if the digits do not suffice for the chosen parts.

        Parameters
        ----------
        mnist : Mnist
            The digits.

        Raises
        ------
        ValueError
            If there are too few images of a digit, or one of them is empty.

        Examples
        --------
        >>> empty = datasets.Mnist(np.zeros((0, 28, 28), np.uint8), np.zeros(0, np.uint8), "nowhere")
        >>> try:
        ...     reproduction.Choice(parts="table2").check_digits(empty)
        ... except ValueError as error:
        ...     print(error)
        `mnist` must have at least 50 images of each digit for table2, got 0 in nowhere
        """
        used: set[int] = set()
        for part in (part for part in self.parts if part in _DIGITS):
            digits, least = _DIGITS[part]
            used.update(digits)
            n = min(int((mnist.labels == digit).sum()) for digit in digits)
            if n < least:
                problem = f"must have at least {least} images of each digit for {part}, got {n} in {mnist.source}"
                raise ArgumentValueError("mnist", problem)
        if not mnist.images[np.isin(mnist.labels, list(used))].any(axis=(1, 2)).all():
            raise ArgumentValueError("mnist", f"must have ink in every image, got an empty one in {mnist.source}")
        most = SOURCES["table4"].count_digits(mnist)
        if self.sizes and {"table4", "variants"} & set(self.parts) and max(self.sizes) > most:
            reason = f"because the source ({mnist.source}) has only {most} images of one of the digits"
            raise ArgumentValueError("sizes", f"must be at most {most}, {reason}, got {max(self.sizes)}")
