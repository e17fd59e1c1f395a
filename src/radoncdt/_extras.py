"""Optional dependencies: imported where they are needed, and named with their extra where they are missing."""

from importlib import import_module
from types import ModuleType

EXTRAS = {
    "PIL": "watermarks",
    "skimage": "watermarks",
    "tifffile": "watermarks",
    "tqdm": "watermarks",
    "rich": "watermarks",
    "jinja2": "watermarks",
    "matplotlib": "plot",
    "mlxtend": "reproduce",
    "mahotas": "reproduce",
    "distributed": "dask",
}
"""The extra of pyproject.toml that installs each package, by the name under which it is imported."""


class MissingExtraError(ImportError):
    """A package that an extra of radoncdt installs is missing."""


def require(name: str, purpose: str, *, extra: str | None = None) -> ModuleType:
    """Import an optional module, or raise an error that names the extra that installs it.

    Parameters
    ----------
    name : str
        The module, such as "PIL.Image".
    purpose : str
        What needs it, as the subject of a sentence, such as "reading image files".
    extra : str, optional
        The extra to name, if it is not the one in `EXTRAS`.
    """
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the package is there, and something that it needs is not
        chosen = extra or EXTRAS[package]
        raise MissingExtraError(
            f"{purpose} needs the package {package}, which is not installed: pip install 'radoncdt[{chosen}]'",
            name=package,
        ) from None
