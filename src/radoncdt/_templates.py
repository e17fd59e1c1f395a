"""Pages from Jinja templates."""

from collections.abc import Mapping
from typing import Any

from radoncdt._extras import require

__all__ = ["load_template"]


def load_template(
    package: str, name: str, filters: Mapping[str, Any] | None = None, *, extra: str | None = None
) -> Any:
    """Return the template ``NAME.j2`` in the folder ``templates`` of a package.

    In HTML templates all values are escaped. An undefined name is an error. `extra` is the extra to name if Jinja is
    not installed.
    """
    jinja2 = require("jinja2", "writing a report", extra=extra)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=name.endswith(".html"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters or {}
    return environment.get_template(f"{name}.j2")
