"""Pure methods: numpy in, plain data out. No I/O, no database, no model."""

from pgclarify.algorithms.answer_variants import find_variant, is_variant
from pgclarify.algorithms.answers import answer_directions, relate_answers
from pgclarify.algorithms.consolidation import consolidate
from pgclarify.algorithms.contradictions import Relation, relate, relate_readings
from pgclarify.algorithms.exploration import Explored, Explorer, credit
from pgclarify.algorithms.fusion import fuse
from pgclarify.algorithms.telling_apart import Apart, Place, are_siblings, tell_apart
from pgclarify.algorithms.uncertainty import (
    confidence,
    relevance_to_unit_interval,
    semantic_sets,
    to_unit_interval,
)

__all__ = [
    "Apart",
    "Explored",
    "Explorer",
    "Place",
    "Relation",
    "answer_directions",
    "are_siblings",
    "confidence",
    "consolidate",
    "credit",
    "find_variant",
    "fuse",
    "is_variant",
    "relate",
    "relate_answers",
    "relate_readings",
    "relevance_to_unit_interval",
    "semantic_sets",
    "tell_apart",
    "to_unit_interval",
]
