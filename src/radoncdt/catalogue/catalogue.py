"""The catalogue as users see it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.catalogue import calibration, migration, search
from radoncdt.catalogue.calibration import DEFAULT_N_MARKS, MIN_ENTRIES, MIN_MARKS, Calibration
from radoncdt.catalogue.conditions import select_entries
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.export import export, list_entries
from radoncdt.catalogue.importer import Added, Import
from radoncdt.catalogue.index import StoredIndex, store_summaries
from radoncdt.catalogue.integrity import Problem, find_problems
from radoncdt.catalogue.metadata import match_rows, parse_values, read_table
from radoncdt.catalogue.records import make_stored_name, parse_ink_options
from radoncdt.catalogue.search import DEFAULT_LIMITS
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.catalogue.store import Store
from radoncdt.catalogue.workers import choose_workers
from radoncdt.ink import InkOptions, image_files
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior, read_prior

__all__ = ["Catalogue"]

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Catalogue:
    """Marks with their metadata and descriptors, in one SQLite file.

    Several threads may use one catalogue, and several processes one file. A file of an earlier version of radoncdt is
    read as it is. If it is opened for writing, it is migrated first, and a backup is kept; see `migrate`.

    Parameters
    ----------
    path : path
        The file.
    create : bool, default False
        Whether to create the file if it does not exist, and to open it for writing.
    write : bool, default False
        Whether to open the file for writing.

    Raises
    ------
    CatalogueError
        If the file is missing, is not a catalogue, is damaged, or was written by a newer version of radoncdt.

    See Also
    --------
    radoncdt.AffineNeighbors : The nearest images among arrays in memory.

    Examples
    --------
    The folder ``tracings`` has drawings of two symbols. Search it for one of them, which was rotated:

    >>> from radoncdt.catalogue import Catalogue
    >>> with Catalogue("marks.db", create=True) as catalogue:
    ...     print(catalogue.add("tracings").added, len(catalogue))
    ...     print(catalogue.search("query.png", top=1).matches[0].file)
    2 2
    tracings/star8.png

    The examples of the methods use this catalogue, opened with ``write=True``.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False, write: bool = False) -> None:
        self._store = Store(path, create=create, write=write)
        self._index: StoredIndex | None = None
        self._index_lock = threading.Lock()
        self._calibration: Calibration | None = None

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file.

        A catalogue in a ``with`` statement is closed at the end of the block.
        """
        self._store.close()

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._store.path

    def __len__(self) -> int:
        with self._store.snapshot() as snapshot:
            return snapshot.count()

    @property
    def schema(self) -> int:
        """The version of the file's schema; the current version is 2."""
        with self._store.snapshot() as snapshot:
            return snapshot.version

    @staticmethod
    def migrate(path: str | os.PathLike[str], *, on_progress: OnProgress | None = None) -> Path | None:
        """Migrate the file of an earlier version of radoncdt in place.

        Opening a catalogue for writing does the same; reading and searching never do. If the process is killed
        meanwhile, the file stays as it was.

        Parameters
        ----------
        path : path
            The file.
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` during the work.

        Returns
        -------
        path or None
            The backup of the old file, which is kept beside it; None if the file was up to date.

        Raises
        ------
        CatalogueError
            If the file is missing, is not a catalogue, is damaged, or cannot be written.

        Examples
        --------
        >>> Catalogue.migrate("marks.db") is None  # the file is up to date
        True
        """
        with Catalogue(path):  # refuses files that are not catalogues
            return migration.migrate(Path(os.path.realpath(path)), on_progress=on_progress)

    # ------------------------------------------------------------ changes

    def add(
        self,
        images: _Paths,
        *,
        metadata: str | os.PathLike[str] | None = None,
        n_jobs: int | None = -1,
        dask: str | None = None,
        on_progress: OnProgress | None = None,
        **ink: Any,
    ) -> Added:
        """Read images and store them.

        Images whose content is already in the catalogue are not read again, so that the same call resumes after an
        interruption. Images that cannot be read are noted with the reason, and tried again by the next call.

        Parameters
        ----------
        images : path, or sequence of paths
            Image files and folders of image files.
        metadata : path, optional
            A CSV file whose column "file" names the images. It also updates the metadata of known images.
        n_jobs : int or None, default -1
            Number of processes, as in scikit-learn; −1 means one per core.
        dask : str, optional
            The address of a Dask scheduler, whose workers read the images instead. They must see the same files.
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` during the work.
        **ink
            How ink is found. `kind`: "drawing" (the default), "watermark" for photographs in transmitted light, or
            "grey" for grey values as mass. `ink`: "auto" (the default), "dark" or "bright". `threshold`: the contrast
            from 0 to 1 at which the ink of a drawing begins, Otsu's by default, or the minimum strength of the ridges
            of a watermark in standard deviations of the noise, 5 by default. `low`: the minimum strength of ridges of a
            watermark that continue stronger ones, half the threshold by default. `specks`: connected ink that is
            shorter than this share of the extent of all ink is removed, by default 0.03 for drawings and 0.06 for
            watermarks. `max_side`: images with longer sides, in pixels, are reduced; by default 1024, without a limit
            for "grey". `roi`: the region of interest (x, y, width, height), in pixels from the upper left. `mask`: an
            image of the same size, whose dark pixels (0) are ignored; here it must be a path.

        Returns
        -------
        Added
            The numbers of images that were added and known, the images that could not be read, and the names in the
            metadata that do not belong to any image.

        Raises
        ------
        CatalogueError
            If there are no image files, or the catalogue cannot be written.
        MetadataError
            If the CSV file is invalid.
        TypeError, ValueError
            If an option has the wrong type or is out of its range.
        ConnectionError
            If there is no Dask scheduler at the address.

        See Also
        --------
        radoncdt.ink.image_files : The files that are read.

        Examples
        --------
        The folder ``more`` has the drawing of a triangle and a blank page:

        >>> added = catalogue.add("more")
        >>> added.added, [failure.file for failure in added.failures]
        (1, ['more/blank.png'])
        """
        options = _resolve_mask(InkOptions(**ink))
        table = read_table(metadata) if metadata is not None else {}
        paths = [Path(images)] if isinstance(images, (str, os.PathLike)) else [Path(path) for path in images]
        files = image_files(paths)
        if not files:
            raise CatalogueError(f"there are no image files in {', '.join(map(str, paths))}")
        rows, unused = match_rows(table, {make_stored_name(file, self.path.parent): file for file in files})
        workers = choose_workers(len(files), n_jobs, dask)
        added = Import(self._store, rows, options).run(files, workers, on_progress)
        store_summaries(self._store)
        return added._replace(unused=unused)

    def update(self, metadata: str | os.PathLike[str]) -> tuple[int, tuple[str, ...]]:
        """Update the metadata of entries from a CSV file whose column "file" names them. Empty cells change nothing.

        Parameters
        ----------
        metadata : path
            The CSV file.

        Returns
        -------
        n_changed : int
            Number of entries that were changed.
        unused : tuple of str
            Names in the file that do not belong to any entry.

        Raises
        ------
        MetadataError
            If the CSV file is invalid.
        CatalogueError
            If the catalogue cannot be written.

        Examples
        --------
        The file ``marks.csv`` has the lines ``file;date``, ``tracings/star8.png;1475`` and ``crown.png;1480``:

        >>> catalogue.update("marks.csv")
        (1, ('crown.png',))
        >>> catalogue.entry(2)["date"]
        1475
        """
        table = read_table(metadata)
        with self._store.transaction() as transaction:
            rows, unused = match_rows(table, {entry.id: Path(entry.file) for entry in transaction.entries()})
            return transaction.set_metadata(rows.items()), unused

    def set(self, number: int, **metadata: str | None) -> None:
        """Set metadata of one entry.

        Parameters
        ----------
        number : int
            The number of the entry.
        **metadata
            The values by column, as texts; None deletes a value.

        Raises
        ------
        MetadataError
            If a value is invalid, or a name cannot be that of a metadata column.
        CatalogueError
            If there is no such entry, or the catalogue cannot be written.

        Examples
        --------
        >>> catalogue.set(1, motif="shield", date="c. 1475")
        >>> catalogue.entry(1)["motif"], catalogue.entry(1)["date"]
        ('shield', 1475)
        """
        values = parse_values(metadata, f"entry {number}")
        with self._store.transaction() as transaction:
            transaction.check_entries([number])
            transaction.set_metadata([(number, values)])

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove entries. The image files stay where they are.

        Parameters
        ----------
        numbers : sequence of int
            The numbers of the entries.

        Raises
        ------
        CatalogueError
            If there is no such entry, or the catalogue cannot be written.
        TypeError, ValueError
            If the numbers are not a sequence of positive integers.

        Examples
        --------
        >>> catalogue.remove([1])
        >>> len(catalogue)
        1
        """
        given = _validation.check_sequence(numbers, "numbers")
        chosen = sorted({_validation.check_count(number, "numbers", 1) for number in given})
        with self._store.transaction() as transaction:
            transaction.check_entries(chosen, accept_parts=True)
            transaction.remove(chosen)
        store_summaries(self._store)

    # ------------------------------------------------------------ contents

    def entries(self, where: str | None = None) -> list[dict[str, Any]]:
        """List entries with their number, file, size and metadata.

        Parameters
        ----------
        where : str, optional
            A condition in SQL on the metadata, such as ``motif = 'crown' and date < 1500``. By default all entries are
            listed.

        Returns
        -------
        list of dict
            One dict per entry, with the keys "entry" (the number), "file", "width_px", "height_px" and "note", and one
            key per metadata column.

        Raises
        ------
        ConditionError
            If the condition is not valid.
        CatalogueError
            If an entry is damaged.

        Examples
        --------
        >>> catalogue.set(1, date="1475")
        >>> catalogue.set(2, date="1520")
        >>> [entry["file"] for entry in catalogue.entries("date < 1500")]
        ['tracings/shield.png']
        """
        with self._store.snapshot() as snapshot:
            return list_entries(snapshot, None if where is None else select_entries(snapshot, where))

    def entry(self, number: int) -> dict[str, Any]:
        """Return one entry with its number, file, size and metadata.

        Parameters
        ----------
        number : int
            The number of the entry.

        Returns
        -------
        dict
            The entry, with the same keys as in `entries`.

        Raises
        ------
        CatalogueError
            If there is no such entry, or it is damaged.

        Examples
        --------
        >>> entry = catalogue.entry(1)
        >>> entry["file"], entry["width_px"], entry.get("motif")
        ('tracings/shield.png', 64, None)
        """
        with self._store.snapshot() as snapshot:
            snapshot.check_entries([number])
            return list_entries(snapshot, [number])[0]

    def failures(self) -> list[tuple[str, str]]:
        """List the files that could not be read, each with the reason.

        Returns
        -------
        list of (file, reason)
            The names of the files, and the reasons in words.

        Raises
        ------
        CatalogueError
            If the catalogue is damaged.

        Examples
        --------
        >>> added = catalogue.add("more")  # with a blank page
        >>> [file for file, reason in catalogue.failures()]
        ['more/blank.png']
        """
        with self._store.snapshot() as snapshot:
            return [(failure.file, failure.reason) for failure in snapshot.failures()]

    def thumbnail(self, number: int) -> bytes:
        """Return a picture of the ink of an entry.

        Parameters
        ----------
        number : int
            The number of the entry.

        Returns
        -------
        bytes
            A PNG file of at most 256 × 256 pixels.

        Raises
        ------
        CatalogueError
            If there is no such entry, or it is damaged.

        Examples
        --------
        >>> from io import BytesIO
        >>> from PIL import Image
        >>> Image.open(BytesIO(catalogue.thumbnail(1))).size
        (64, 64)
        """
        with self._store.snapshot() as snapshot:
            snapshot.check_entries([number])
            return snapshot.thumbnails([number])[number]

    def ink_options(self, number: int) -> dict[str, Any]:
        """Return the ink options with which an entry was read, without those that were not set.

        Parameters
        ----------
        number : int
            The number of the entry.

        Returns
        -------
        dict
            The options by name, see `radoncdt.ink.InkOptions`.

        Raises
        ------
        CatalogueError
            If there is no such entry, or it is damaged.

        Examples
        --------
        >>> catalogue.ink_options(1)
        {'kind': 'drawing', 'ink': 'auto'}
        """
        with self._store.snapshot() as snapshot:
            snapshot.check_entries([number])
            options = asdict(parse_ink_options(snapshot.entries([number])[0].ink))
        return {name: value for name, value in options.items() if value is not None}

    @property
    def columns(self) -> list[str]:
        """The names of the metadata columns."""
        with self._store.snapshot() as snapshot:
            return list(snapshot.columns)

    def export(self, path: str | os.PathLike[str], *, skip_damaged: bool = False) -> int:
        """Write all entries to a .csv or .json file, or with descriptors to an .npz file.

        The method `load` of `radoncdt.Descriptors` reads the .npz file.

        Parameters
        ----------
        path : path
            The file, whose suffix determines the format.
        skip_damaged : bool, default False
            Whether to skip damaged entries with a warning for each; otherwise the first one raises an error.

        Returns
        -------
        int
            Number of entries that were written.

        Raises
        ------
        CatalogueError
            If the suffix is unknown, the folder does not exist, or an entry is damaged.

        Warns
        -----
        DamagedEntryWarning
            If damaged entries are skipped.

        Examples
        --------
        >>> catalogue.export("marks.csv")
        2
        >>> Path("marks.csv").read_text(encoding="utf-8").split(",")[:3]
        ['entry', 'file', 'width_px']
        """
        with self._store.snapshot() as snapshot:
            return export(snapshot, Path(path), skip_damaged=skip_damaged)

    def check(self, *, on_progress: OnProgress | None = None) -> list[Problem]:
        """Verify every row, and every file that an entry was read from.

        Parameters
        ----------
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` during the work.

        Returns
        -------
        list of Problem
            The problems; empty if there are none.

        Examples
        --------
        >>> Path("tracings/shield.png").unlink()
        >>> catalogue.check()
        [Problem(entry=1, what='its file no longer exists: tracings/shield.png')]
        """
        return find_problems(self._store, on_progress)

    # ------------------------------------------------------------ search

    def open(self) -> StoredIndex:
        """Load the index into memory; otherwise the first search does.

        Returns
        -------
        StoredIndex
            The index, which the catalogue keeps. Programs need not use it.

        Raises
        ------
        CatalogueError
            If there are no entries, or one of them is damaged.

        Examples
        --------
        >>> catalogue.open().numbers
        array([1, 2])
        """
        with self._open_index() as (_, index):
            return index

    @contextmanager
    def _open_index(self) -> Iterator[tuple[Snapshot, StoredIndex]]:
        """Yield a snapshot and the index that belongs to it; other processes may have changed the file."""
        with self._store.snapshot() as snapshot:
            with self._index_lock:
                index = self._index
                if index is None or index.state != snapshot.state():
                    if not snapshot.count():
                        raise CatalogueError(f"{self.path}: has no entries")
                    index = self._index = StoredIndex(snapshot)
            yield snapshot, index

    @property
    def can_be_calibrated(self) -> bool:
        """Whether there are enough entries for a calibration, 30 or more."""
        return len(self) >= MIN_ENTRIES

    @property
    def calibrated(self) -> bool:
        """Whether the catalogue has a calibration that is not outdated, so that searches yield p-values."""
        with self._store.snapshot() as snapshot:
            return self._find_calibration(snapshot, snapshot.numbers()) is not None

    def _find_calibration(self, snapshot: Snapshot, numbers: NDArray[np.int64]) -> Calibration | None:
        """Return the calibration in memory or in the file, whichever is based on more marks, unless outdated."""
        both = self._calibration, calibration.load_calibration(snapshot)
        current = [each for each in both if each and not each.is_outdated(numbers)]
        return max(current, key=lambda each: len(each.prominences), default=None)

    def calibrate(
        self, *, n_marks: int | None = None, n_jobs: int | None = -1, on_progress: OnProgress | None = None
    ) -> int:
        """Estimate how prominent the best match is for marks that the catalogue does not contain.

        Searches need this for p-values. It takes 0.1 to 0.2 seconds per mark, and is outdated once half of the entries
        have changed. It is stored if the catalogue was opened for writing, otherwise kept until that is closed.

        If the best matches of m such marks have the prominences t_1, …, t_m, the p-value of a match is
        (1 + number of t_i ≥ its prominence) / (m + 1).

        Parameters
        ----------
        n_marks : int, optional
            The number of entries to redraw and search for, at least 20. The default is 200, or as many as for the
            present calibration, if these were more.
        n_jobs : int or None, default -1
            Number of threads, as in scikit-learn; −1 means one per core.
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` during the work.

        Returns
        -------
        int
            The number m of marks that the calibration is based on, which is smaller than `n_marks` if there are fewer
            entries, or if some have only copies beside them. The smallest p-value is 1/(m + 1).

        Raises
        ------
        CatalogueError
            If there are fewer than 30 entries.
        TypeError, ValueError
            If `n_marks` is not an integer of at least 20.

        Examples
        --------
        >>> catalogue.calibrate() if catalogue.can_be_calibrated else "fewer than 30 entries"
        'fewer than 30 entries'
        """
        if n_marks is None:
            with self._store.snapshot() as snapshot:
                present = calibration.load_calibration(snapshot)
            n_marks = max(DEFAULT_N_MARKS, len(present.prominences) if present else 0)
        _validation.check_count(n_marks, "n_marks", MIN_MARKS)
        if (n := len(self)) < MIN_ENTRIES:
            raise CatalogueError(f"{self.path}: must have at least {MIN_ENTRIES} entries to be calibrated, got {n}")
        found = self._calibration = calibration.calibrate(self._open_index, n_marks, n_jobs, on_progress)
        if self._store.writable:
            calibration.store_calibration(self._store, found)
        return len(found.prominences)

    def search(
        self,
        image: str | os.PathLike[str] | ArrayLike,
        *,
        top: int = 10,
        where: str | None = None,
        limits: Plausible = DEFAULT_LIMITS,
        prior: str | MapPrior | Sequence[float] = "any",
        size_mm: tuple[float, float] | None = None,
        n_jobs: int | None = -1,
        **ink: Any,
    ) -> search.SearchResult:
        """Search for the entries that best match an image, up to a plausible affine map.

        A search never changes the file. Matches have p-values if the catalogue is calibrated, see `calibrate`, and no
        map has a penalty.

        Parameters
        ----------
        image : path or array
            An image file; or an array (H, W), or (H, W, 2 to 4) with colours or opacity.
        top : int, default 10
            The number of matches.
        where : str, optional
            A condition in SQL on the metadata, such as ``motif = 'crown' and date < 1500``.
        limits : Plausible, default DEFAULT_LIMITS
            The plausible maps from the image to an entry. By default the scale factors differ by a factor of at most
            4, the shear is at most 60°, and mirror images are admitted.
        prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation), default "any"
            Which of the plausible maps are likely. The penalty of the map is added to the squared distance, and so
            becomes part of the score. By default no map has a penalty. Searches with a prior have no p-values, because
            `calibrate` admits any map at no penalty.
        size_mm : (width, height), optional
            The size of the mark in the image. Entries of known size must have the same size within a quarter.
        n_jobs : int or None, default -1
            Number of threads, as in scikit-learn; −1 means one per core.
        **ink
            How ink is found. `kind`: "drawing" (the default), "watermark" for photographs in transmitted light, or
            "grey" for grey values as mass. `ink`: "auto" (the default), "dark" or "bright". `threshold`: the contrast
            from 0 to 1 at which the ink of a drawing begins, Otsu's by default, or the minimum strength of the ridges
            of a watermark in standard deviations of the noise, 5 by default. `low`: the minimum strength of ridges of a
            watermark that continue stronger ones, half the threshold by default. `specks`: connected ink that is
            shorter than this share of the extent of all ink is removed, by default 0.03 for drawings and 0.06 for
            watermarks. `max_side`: images with longer sides, in pixels, are reduced; by default 1024, without a limit
            for "grey". `roi`: the region of interest (x, y, width, height), in pixels from the upper left. `mask`: an
            image of the same size, whose dark pixels (0) are ignored.

        Returns
        -------
        SearchResult
            The matches, the best one first, with the number of entries that were searched.

        Raises
        ------
        CatalogueError
            If there are no entries, or one of them is damaged.
        ConditionError
            If the condition is not valid.
        InkError
            If the image cannot be read, or has no ink.
        TypeError, ValueError
            If an argument has the wrong type or is out of its range.

        Warns
        -----
        UserWarning
            If very little or most of the image is ink, as happens if the kind of ink is wrong.

        See Also
        --------
        radoncdt.register : The map from one measure to another.

        Examples
        --------
        >>> found = catalogue.search("query.png", top=1)
        >>> [(match.rank, match.file) for match in found.matches]
        [(1, 'tracings/star8.png')]
        """
        _validation.check_count(top, "top", 1)
        _validation.check_instance(limits, "limits", Plausible)
        penalties = read_prior(prior)
        size = None if size_mm is None else _parse_size(size_mm)
        with self._store.snapshot() as snapshot:
            settings = snapshot.settings
            if where is not None:
                select_entries(snapshot, where)  # refuses a wrong condition before the image is read
        query = search.read_query(image, ink, settings, n_jobs)
        with self._open_index() as (snapshot, index):
            among = None if where is None else select_entries(snapshot, where)
            options = search.SearchOptions(top, among, limits, penalties, size, n_jobs)
            found = None if penalties.penalties else self._find_calibration(snapshot, index.numbers)
            return search.find_matches(snapshot, index, query, options, found.p_value if found else None)


def _resolve_mask(options: InkOptions) -> InkOptions:
    """Return options whose mask is an absolute path, because workers may have another working directory."""
    if options.mask is None:
        return options
    if not isinstance(options.mask, (str, os.PathLike)):
        raise ArgumentTypeError("mask", f"must be a path, because it is stored, got {type(options.mask).__name__}")
    return replace(options, mask=os.path.abspath(options.mask))


def _parse_size(value: object) -> tuple[float, float]:
    sides = _validation.check_finite_array(value, "size_mm")
    if sides.shape != (2,) or not (sides > 0).all():
        raise ArgumentValueError("size_mm", f"must be width and height in millimetres, got {value!r}")
    return float(sides[0]), float(sides[1])
