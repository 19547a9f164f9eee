"""Pure methods: numpy in, plain data out. No I/O, no database, no model."""

from pgclarify.algorithms.agreement import Relation, relate, relate_readings
from pgclarify.algorithms.answer_variants import find_variant, is_last_name, is_variant
from pgclarify.algorithms.answers import answer_directions, relate_answers
from pgclarify.algorithms.consolidation import GROUPINGS, Bounds, Density, Grouping, Mode, consolidate, medoid
from pgclarify.algorithms.exploration import Explored, Explorer, credit, explore
from pgclarify.algorithms.fusion import fuse
from pgclarify.algorithms.numerals import write_numbers
from pgclarify.algorithms.proposals import proposes_same
from pgclarify.algorithms.questions import asks_same, names, stands_alone, words_that_point_back
from pgclarify.algorithms.quotation import find_quote, fold
from pgclarify.algorithms.uncertainty import confidence, penalize, semantic_sets, to_unit_interval

__all__ = [
    "GROUPINGS",
    "Bounds",
    "Density",
    "Explored",
    "Explorer",
    "Grouping",
    "Mode",
    "Relation",
    "answer_directions",
    "asks_same",
    "confidence",
    "consolidate",
    "credit",
    "explore",
    "find_quote",
    "find_variant",
    "fold",
    "fuse",
    "is_last_name",
    "is_variant",
    "medoid",
    "names",
    "penalize",
    "proposes_same",
    "relate",
    "relate_answers",
    "relate_readings",
    "semantic_sets",
    "stands_alone",
    "to_unit_interval",
    "words_that_point_back",
    "write_numbers",
]
