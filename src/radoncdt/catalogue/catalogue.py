"""A catalogue as users see it."""

import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from numpy.typing import ArrayLike

from radoncdt import _validation
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.catalogue import export, migration, records, search
from radoncdt.catalogue.calibration import FEWEST, MARKS, calibrate
from radoncdt.catalogue.conditions import admitted
from radoncdt.catalogue.errors import CatalogueError, DamagedEntryWarning
from radoncdt.catalogue.importer import Added, add_images, workers_for
from radoncdt.catalogue.index import StoredIndex, store_summaries
from radoncdt.catalogue.integrity import Problem, problems
from radoncdt.catalogue.metadata import OWN, MetadataError, Value, column_name, read_table, row_of, typed
from radoncdt.catalogue.p_values import Chances, store_chances, stored_chances
from radoncdt.catalogue.store import Snapshot, Store, stored_name
from radoncdt.ink import InkOptions, image_files
from radoncdt.matching.plausible import Plausible

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Catalogue:
    """Marks, what is known of them, and their descriptors, in one SQLite file.

    Several threads may use one catalogue, and several processes one file. A file of an older version of radoncdt is
    read as it is. If it is opened for changes, it is migrated first, and a copy of it is kept, see `migrate`.

    Parameters
    ----------
    path : path
    create : bool
        Make the file if there is none, and open it for changes.
    write : bool
        Open it for changes.

    Raises
    ------
    CatalogueError
        When the file is missing, is not a catalogue, is damaged, or was written by a newer version of radoncdt.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False, write: bool = False) -> None:
        self._store = Store(path, create=create, write=write)
        self._writes = create or write
        self._index: StoredIndex | None = None
        self._chances: Chances | None = None
        self._opening, self._learning = threading.Lock(), threading.Lock()

    def __enter__(self) -> "Catalogue":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    @property
    def path(self) -> Path:
        return self._store.path

    def __len__(self) -> int:
        with self._store.snapshot() as snapshot:
            return snapshot.count()

    @property
    def schema(self) -> int:
        """The version of the schema of the file; 2 is the newest."""
        with self._store.snapshot() as snapshot:
            return snapshot.version

    @staticmethod
    def migrate(path: str | os.PathLike[str], *, on_progress: OnProgress | None = None) -> Path | None:
        """Bring the file of an older version of radoncdt up to date, in place.

        Opening a catalogue for changes does the same; searching and reading never do. A process that is killed
        meanwhile leaves the file as it was.

        Returns
        -------
        path or None
            The copy of the old file, which is kept beside it; None if the file was up to date.
        """
        with Catalogue(path):  # refuses what is not a catalogue
            return migration.migrate(Path(os.path.realpath(path)), on_progress=on_progress)

    # ------------------------------------------------------------ changes

    def add(
        self,
        images: Paths,
        *,
        metadata: str | os.PathLike[str] | None = None,
        n_jobs: int | None = -1,
        dask: str | None = None,
        on_progress: OnProgress | None = None,
        **ink: Any,
    ) -> Added:
        """Read images, and store what can be read of them.

        An image whose content is there already is not read again, so the same call, after an interruption, goes on
        where it stopped. Images that cannot be read are noted with the reason, and tried again next time.

        Parameters
        ----------
        images : path, or sequence of paths
            Image files, and folders of them.
        metadata : path, optional
            A CSV file whose column "file" names the images. It also changes what is known of images that are there.
        n_jobs : int
            Processes; −1 is one a core.
        dask : str, optional
            The address of a Dask scheduler, whose workers read the images instead. They must see the same files.
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` while the work goes on.
        **ink
            Options of `radoncdt.ink.InkOptions`; the kind is "drawing" by default.
        """
        options = InkOptions(**{"kind": "drawing", **ink})
        table = read_table(metadata) if metadata is not None else {}
        paths = [Path(images)] if isinstance(images, (str, os.PathLike)) else [Path(path) for path in images]
        files = image_files(paths)
        if not files:
            raise CatalogueError(f"there are no image files in {', '.join(map(str, paths))}")
        rows = {file: row for file in files if (row := row_of(table, file)) is not None}
        workers = workers_for(len(files), n_jobs, dask)
        values = {stored_name(file, self.path.parent): row for file, (_, row) in rows.items()}
        added = add_images(self._store, files, values, options, workers, on_progress)
        store_summaries(self._store)
        used = {name for name, _ in rows.values()}
        return added._replace(unused=tuple(name for name in table if name not in used))

    def update(self, metadata: str | os.PathLike[str]) -> tuple[int, tuple[str, ...]]:
        """Change the metadata of entries by a CSV file; how many changed, and the lines that belong to no entry.

        Its column "file" names entries as `add` does; empty cells change nothing.
        """
        table = read_table(metadata)
        with self._store.transaction() as transaction:
            entries = [(entry.id, Path(entry.file)) for entry in transaction.entries()]
            found = [(number, row) for number, file in entries if (row := row_of(table, file)) is not None]
            changed = transaction.set_metadata([(number, values) for number, (_, values) in found])
        used = {name for _, (name, _) in found}
        return changed, tuple(name for name in table if name not in used)

    def set(self, number: int, **metadata: str | None) -> None:
        """Change what is known of one entry; None forgets it."""
        values: dict[str, Value] = {}
        for title, value in metadata.items():
            name = column_name(title)
            if not name or name in OWN:
                raise MetadataError(f"entry {number}: {title!r} is not a name of metadata")
            values[name] = None if value is None else typed(name, str(value), f"entry {number}")
        with self._store.transaction() as transaction:
            transaction.check_entries([number])
            transaction.set_metadata([(number, values)])

    def remove(self, numbers: Sequence[int]) -> None:
        """Forget entries. The image files stay where they are."""
        chosen = sorted(
            {_validation.count(number, "numbers", 1) for number in _validation.sequence(numbers, "numbers")}
        )
        with self._store.transaction() as transaction:
            transaction.check_entries(chosen, parts=True)
            transaction.remove(chosen)
        store_summaries(self._store)

    # ------------------------------------------------------------ what is there

    def entries(self, where: str | None = None) -> list[dict[str, Any]]:
        """Entries, each with its number, file, size and metadata; only those that a condition in SQL admits."""
        with self._store.snapshot() as snapshot:
            return _entries(snapshot, None if where is None else admitted(snapshot, where))

    def entry(self, number: int) -> dict[str, Any]:
        """The same of one entry."""
        with self._store.snapshot() as snapshot:
            snapshot.check_entries([number])
            return _entries(snapshot, [number])[0]

    def failures(self) -> list[tuple[str, str]]:
        """Files that could not be read, and why."""
        with self._store.snapshot() as snapshot:
            return [(failure.file, failure.reason) for failure in snapshot.failures()]

    def picture(self, number: int) -> bytes:
        """The ink of an entry, a PNG file of at most 256 pixels a side."""
        with self._store.snapshot() as snapshot:
            snapshot.check_entries([number])
            return snapshot.pictures([number])[number]

    def ink_options(self, number: int) -> dict[str, Any]:
        """How the ink of an entry was found."""
        with self._store.snapshot() as snapshot:
            snapshot.check_entries([number])
            options = asdict(records.ink_options(snapshot.entries([number])[0].ink))
        return {name: value for name, value in options.items() if value is not None}

    @property
    def columns(self) -> list[str]:
        """The names of the metadata."""
        with self._store.snapshot() as snapshot:
            return list(snapshot.columns)

    def export(self, path: str | os.PathLike[str], *, skip_damaged: bool = False) -> int:
        """Write all entries to a .csv or .json file, or with their descriptors to an .npz file; how many.

        Parameters
        ----------
        path : path
        skip_damaged : bool
            Whether to leave out damaged entries, with a warning for each; otherwise the first one is an error.
        """
        with self._store.snapshot() as snapshot:
            described = Path(path).suffix.lower() == ".npz"
            entries = _sound_entries(snapshot, described) if skip_damaged else _entries(snapshot)
            return export.export(snapshot, entries, Path(path))

    def check(self, *, on_progress: OnProgress | None = None) -> list[Problem]:
        """Verify every row, and every file that an entry was read from; what is wrong, nothing if all is well."""
        return problems(self._store, on_progress)

    # ------------------------------------------------------------ search

    def open(self) -> StoredIndex:
        """Read what searches need first; the first search does it otherwise."""
        with self._opened() as (_, index):
            return index

    @contextmanager
    def _opened(self) -> Iterator[tuple[Snapshot, StoredIndex]]:
        """A snapshot, and the index that belongs to it; other processes may have changed the file since the last."""
        with self._store.snapshot() as snapshot:
            with self._opening:
                index = self._index
                if index is None or index.state != snapshot.state():
                    if not snapshot.count():
                        raise CatalogueError(f"{self.path}: has no entries")
                    index = self._index = StoredIndex(snapshot)
            yield snapshot, index

    @property
    def calibrated(self) -> bool:
        """Whether chances are known, or cannot be since there are too few entries; if not, a search learns them."""
        with self._opened() as (snapshot, index):
            return len(index.numbers) < FEWEST or self._known_chances(snapshot, index) is not None

    def _known_chances(self, snapshot: Snapshot, index: StoredIndex) -> Chances | None:
        """Those that are not outdated, in memory or in the file: of both those from more marks."""
        both = self._chances, stored_chances(snapshot)
        known = [each for each in both if each and not each.outdated(index.numbers)]
        return max(known, key=lambda each: len(each.stands), default=None)

    def calibrate(self, *, marks: int = MARKS, n_jobs: int | None = -1, on_progress: OnProgress | None = None) -> int:
        """Learn how much the best entry stands out for marks that the catalogue does not have.

        The first search does it, and one after half of the entries have changed; it takes a tenth or two of a second a
        mark. What is learnt is kept in the file if the catalogue was opened for changes, otherwise until it is closed.

        Parameters
        ----------
        marks : int
            How many of the catalogue's own are drawn again and searched for.
        n_jobs : int
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` while the work goes on.

        Returns
        -------
        int
            How many marks it was learnt from, fewer if some have no others beside copies. No chance is below one over
            one more than that.

        Raises
        ------
        CatalogueError
            When there are fewer than 30 entries.
        """
        _validation.count(marks, "marks", 20)
        if len(self) < FEWEST:
            raise CatalogueError(f"{self.path}: has {len(self)} entries, too few to learn chances; {FEWEST} are enough")
        with self._learning:
            learnt = self._chances = calibrate(self._opened, marks, n_jobs, on_progress)
        if self._writes:
            store_chances(self._store, learnt)
        return len(learnt.stands)

    def _learn(self, n_jobs: int | None, on_progress: OnProgress | None) -> None:
        """The same, for a search, from no fewer marks than before; that it cannot be kept is no reason to fail."""
        with self._learning:
            if self.calibrated:  # by another thread
                return
            with self._store.snapshot() as snapshot:
                before = [len(each.stands) for each in (self._chances, stored_chances(snapshot)) if each]
            learnt = self._chances = calibrate(self._opened, max([MARKS, *before]), n_jobs, on_progress)
        if self._writes:
            try:
                store_chances(self._store, learnt)
            except (CatalogueError, OSError) as error:
                warnings.warn(f"chances were learnt, but not kept: {error}", stacklevel=3)

    def search(
        self,
        image: str | os.PathLike[str] | ArrayLike,
        *,
        top: int = 10,
        where: str | None = None,
        roi: Sequence[int] | None = None,
        mask: Any = None,
        limits: Plausible = search.PLAUSIBLE,
        size_mm: tuple[float, float] | None = None,
        chances: bool = True,
        n_jobs: int | None = -1,
        on_progress: OnProgress | None = None,
        **ink: Any,
    ) -> search.Result:
        """The entries that are nearest to an image, however it was moved.

        Parameters
        ----------
        image : path, or array
            A file is read, and an array of two axes is taken, as `radoncdt.ink` does; the kind is "drawing" by default.
        top : int
            How many.
        where : str, optional
            A condition in SQL on the metadata, such as ``motif = 'crown' and date < 1500``.
        roi, mask
            What of the image counts, see `radoncdt.ink.read_ink`.
        limits : Plausible
            Which maps are plausible. By default the scale factors differ by a factor of at most 4, and the shear is at
            most 60°.
        size_mm : (width, height), optional
            Of the mark in the image. Entries whose size is known must have the same within a quarter.
        chances : bool
            Whether to say how unusual each match is. The first search learns that if need be, see `calibrate`.
        n_jobs : int
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` while the work goes on.
        **ink
            Options of `radoncdt.ink.InkOptions`.
        """
        _validation.count(top, "top", 1)
        _validation.instance(limits, "limits", Plausible)
        _validation.instance(chances, "chances", bool)
        size = None if size_mm is None else _size(size_mm)
        options = {"kind": "drawing", **ink}
        with self._store.snapshot() as snapshot:
            settings = snapshot.settings
            if where is not None:
                admitted(snapshot, where)  # a wrong condition is refused before anything takes long
        query = search.query_of(image, roi, mask, options, settings, n_jobs)
        if chances and not self.calibrated:
            self._learn(n_jobs, on_progress)
        with self._opened() as (snapshot, index):
            among = None if where is None else admitted(snapshot, where)
            known = self._known_chances(snapshot, index) if chances and len(index.numbers) >= FEWEST else None
            wanted = search.Limits(top, among, limits, size)
            return search.search(snapshot, index, query, wanted, known, n_jobs)


def _entries(snapshot: Snapshot, numbers: Any = None) -> list[dict[str, Any]]:
    """All entries, or some, each with its number, file, size and metadata."""
    metadata = snapshot.metadata(numbers)
    found = []
    for entry in snapshot.entries(numbers):
        if entry.id not in metadata:
            raise snapshot.damaged(records.ENTRIES, entry.id, "it has no metadata")
        own = entry.id, entry.file, entry.width, entry.height, entry.note
        found.append(dict(zip(OWN, own)) | metadata[entry.id])
    return found


def _size(value: object) -> tuple[float, float]:
    sides = _validation.finite_array(value, "size_mm")
    if sides.shape != (2,) or not (sides > 0).all():
        raise ArgumentValueError("size_mm", f"must be width and height in millimetres, got {value!r}")
    return float(sides[0]), float(sides[1])


def _sound_entries(snapshot: Snapshot, described: bool) -> list[dict[str, Any]]:
    """The entries that are not damaged, their descriptors included or not, with a warning for each of the others."""
    found = []
    for number in snapshot.numbers().tolist():
        try:
            if described:
                snapshot.descriptors([number])
            found += _entries(snapshot, [number])
        except CatalogueError as error:
            warnings.warn(f"left out: {error}", DamagedEntryWarning, stacklevel=4)
    return found
