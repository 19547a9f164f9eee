"""The names of our two schemas, for modules that must not import SQLAlchemy, as `pgclarify.schema` does."""

# The schema for users, and the schema that only pgclarify uses.
SCHEMA = "pgclarify"
PRIVATE_SCHEMA = "pgclarify_private"
