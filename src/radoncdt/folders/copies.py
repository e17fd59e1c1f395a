"""Copies of classified images in one folder per class."""

import filecmp
import os
import secrets
import shutil
from itertools import count
from pathlib import Path

from radoncdt._progress import track
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.folders.predictions import Predictions

__all__ = ["copy_to_classes"]


def copy_to_classes(
    predictions: Predictions, folder: str | os.PathLike[str], *, on_progress: OnProgress | None = None
) -> list[Path]:
    """Copy every image into the folder of its predicted class: FOLDER/CLASS/NAME.

    Nothing is overwritten: if a different file has the name, the copy gets a number, such as NAME_2.png. A file that is
    there already, with the same name and content, is not copied again. A copy gets its name once it is complete. Images
    without a predicted class are not copied.

    Parameters
    ----------
    predictions : Predictions
        The result of `classify_folders`.
    folder : path
        The folder, which is created if it does not exist.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` while images are copied.

    Returns
    -------
    list of Path
        The copies, in the order of the predictions.

    Raises
    ------
    ValueError
        If a class cannot be the name of a folder, or a file is in the place of a folder.
    OSError
        If a file cannot be copied.

    See Also
    --------
    classify_folders : Make predictions.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from radoncdt.folders import Prediction, Predictions, copy_to_classes
    >>> with TemporaryDirectory() as folder:
    ...     image = Path(folder, "1.png")
    ...     image.touch()
    ...     found = Predictions((Prediction(image, None, "crown"),), ("crown", "star"), ())
    ...     [copy] = copy_to_classes(found, Path(folder, "sorted"))
    ...     print(copy.relative_to(folder).as_posix())
    sorted/crown/1.png
    """
    chosen = [(row.file, row.predicted) for row in predictions.rows if row.predicted is not None]
    homes = {name: Path(folder) / name for _, name in chosen}
    for name, home in homes.items():
        if name in ("", ".", "..") or "\0" in name or Path(name).name != name:
            raise ArgumentValueError("predictions", f"must have classes that can be names of folders, got {name!r}")
        for path in (home.parent, home):
            if os.path.lexists(path) and not path.is_dir():
                raise ArgumentValueError("folder", f"must be a folder of folders, got the file {path}")
    copies = []
    for file, name in track(chosen, on_progress, "copying images"):
        homes[name].mkdir(parents=True, exist_ok=True)
        copies.append(_copy(file, homes[name]))
    return copies


def _copy(file: Path, folder: Path) -> Path:
    """Copy a file under its name or, if another file has that name, with a number."""
    part = folder / f".{secrets.token_hex(8)}"
    try:
        shutil.copy2(file, part)
        targets = (folder / (file.name if k == 1 else f"{file.stem}_{k}{file.suffix}") for k in count(1))
        return next(path for path in targets if _take_name(part, path))
    finally:
        part.unlink(missing_ok=True)


def _take_name(part: Path, target: Path) -> bool:
    """Rename a file. Return False if the name belongs to a file with other content, which stays there."""
    try:
        os.link(part, target)  # unlike a renaming, this never replaces a file
    except OSError:  # the name is taken, or the file system has no hard links
        if os.path.lexists(target):
            return target.is_file() and filecmp.cmp(part, target, shallow=False)
        part.rename(target)
    return True
