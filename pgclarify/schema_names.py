"""The names of our two schemas, for what must not wait for SQLAlchemy, which `pgclarify.schema` imports."""

# What people use; and what only pgclarify itself uses.
SCHEMA = "pgclarify"
PRIVATE_SCHEMA = "pgclarify_private"
