"""Pure methods: numpy in, plain data out. No I/O, no database, no model."""

from pgclarify.algorithms.agreement import Relation, relate
from pgclarify.algorithms.consolidation import Mode, consolidate, medoid
from pgclarify.algorithms.quotation import find_quote, fold

__all__ = ["Mode", "Relation", "consolidate", "find_quote", "fold", "medoid", "relate"]
