"""Valid and invalid image files, and a function that runs commands."""

import numpy as np
from PIL import Image

from radoncdt import cli

SHAPE = np.pad(np.tri(20), 6).astype(np.float32)

GOOD = ["dark.png", "bright.png"]
BAD = {
    "blank.png": "no pixel is darker than the paper",
    "text.png": "unrecognised image format",
    "cut.png": "cannot be read",
    "missing.png": "no such file",
    "empty.png": "empty file",
}


def save(path, grey, **options):
    Image.fromarray(np.asarray(grey, np.uint8)).save(path, **options)
    return path


def save_files(folder):
    """Write all files of GOOD and BAD, except for the missing one."""
    save(folder / "dark.png", 255 - 255 * SHAPE)
    save(folder / "bright.png", 255 * SHAPE)
    save(folder / "blank.png", np.full((9, 9), 200))
    (folder / "text.png").write_text("no image", encoding="utf-8")
    whole = (folder / "dark.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.png").touch()


def run(*arguments):
    """Run a command; return its exit status, also if the parser raised it."""
    try:
        return cli.main([str(a) for a in arguments])
    except SystemExit as stop:
        return stop.code
