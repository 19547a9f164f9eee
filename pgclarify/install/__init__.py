"""Install, upgrade and remove the schema: extensions, roles, migrations, functions, policies and views.

A module is imported when one of its names is first used: a worker checks the schema when it starts, and must not wait
for what migrates it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgclarify.install.extensions import OLDEST_SERVER, OLDEST_VECTOR
    from pgclarify.install.functions import drop_routines
    from pgclarify.install.installer import AdoptedRole, Installation, install, migrate, uninstall
    from pgclarify.install.roles import ROLES
    from pgclarify.install.shipped import shipped
    from pgclarify.install.versions import check_schema

__all__ = [
    "OLDEST_SERVER",
    "OLDEST_VECTOR",
    "ROLES",
    "AdoptedRole",
    "Installation",
    "check_schema",
    "drop_routines",
    "install",
    "migrate",
    "shipped",
    "uninstall",
]

_MODULES = {
    "OLDEST_SERVER": "extensions",
    "OLDEST_VECTOR": "extensions",
    "ROLES": "roles",
    "AdoptedRole": "installer",
    "Installation": "installer",
    "check_schema": "versions",
    "drop_routines": "functions",
    "install": "installer",
    "migrate": "installer",
    "shipped": "shipped",
    "uninstall": "installer",
}

# Type checkers see the imports above, and would take any name for an export if they saw this.
if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
