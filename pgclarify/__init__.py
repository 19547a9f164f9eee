"""pgclarify: ask PostgreSQL a vague question; get the readings your documents can answer, each with its evidence."""

from importlib.metadata import version

__version__ = version("pgclarify")
