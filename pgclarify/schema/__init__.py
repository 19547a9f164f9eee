"""The tables in SQLAlchemy Core. A new database gets them.

Alembic reads them to find what a new revision must change. Partitions, functions, views, policies and the queue are
created elsewhere.
"""

from importlib import import_module
from pkgutil import iter_modules

from pgclarify.schema.base import PRIVATE_SCHEMA, metadata

__all__ = ["PRIVATE_SCHEMA", "metadata"]

# Each module adds its tables to the metadata.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
