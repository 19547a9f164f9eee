"""Install, upgrade and remove the schema: extensions, roles, migrations, functions, policies and views."""

from pgclarify.install.extensions import OLDEST_SERVER, OLDEST_VECTOR
from pgclarify.install.functions import drop_routines
from pgclarify.install.installer import AdoptedRole, Installation, install, migrate, uninstall
from pgclarify.install.revisions import check_schema
from pgclarify.install.roles import ROLES
from pgclarify.install.shipped import shipped

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
