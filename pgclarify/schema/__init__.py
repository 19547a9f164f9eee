"""The tables in SQLAlchemy Core. `make baseline` writes the SQL of the first revision from them.

Alembic reads them to find what a new revision must change. Partitions, functions, views, policies and the queue are
created elsewhere.
"""

from pgclarify.schema.ambiguity import ambiguity_rule, detection, rewriting, trained_classifier
from pgclarify.schema.base import PRIVATE_SCHEMA, Name, metadata
from pgclarify.schema.completion import completion, completion_document
from pgclarify.schema.conversation import clarifying_question, conversation, turn
from pgclarify.schema.corpus import corpus, corpus_tally, document, embedding_space, reader_revision
from pgclarify.schema.estimate import estimate
from pgclarify.schema.evaluation import eval_case, eval_run
from pgclarify.schema.graph import neighborhood, pending_cut, pending_link, pending_passage, pending_unlink
from pgclarify.schema.identity import named_role
from pgclarify.schema.indexing import pending_document, staged_passage, term_change
from pgclarify.schema.interpretation import citation, interpretation
from pgclarify.schema.keys import applied_sql, caller_key, loopback
from pgclarify.schema.listed_answer import listed_answer
from pgclarify.schema.money import budget, budget_counter, embedding_usage, model_price
from pgclarify.schema.passage import passage, passage_embedding, term
from pgclarify.schema.question_group import citation_tally, question_group, question_wording, served_answer
from pgclarify.schema.run import run
from pgclarify.schema.source import change, source
from pgclarify.schema.stage import stage
from pgclarify.schema.stale_statistics import stale_statistics
from pgclarify.schema.step import step
from pgclarify.schema.verdict import candidate, verdict
from pgclarify.schema.worker import endpoint_rate, worker

__all__ = [
    "PRIVATE_SCHEMA",
    "Name",
    "ambiguity_rule",
    "applied_sql",
    "budget",
    "budget_counter",
    "caller_key",
    "candidate",
    "change",
    "citation",
    "citation_tally",
    "clarifying_question",
    "completion",
    "completion_document",
    "conversation",
    "corpus",
    "corpus_tally",
    "detection",
    "document",
    "embedding_space",
    "embedding_usage",
    "endpoint_rate",
    "estimate",
    "eval_case",
    "eval_run",
    "interpretation",
    "listed_answer",
    "loopback",
    "metadata",
    "model_price",
    "named_role",
    "neighborhood",
    "passage",
    "passage_embedding",
    "pending_cut",
    "pending_document",
    "pending_link",
    "pending_passage",
    "pending_unlink",
    "question_group",
    "question_wording",
    "reader_revision",
    "rewriting",
    "run",
    "served_answer",
    "source",
    "stage",
    "staged_passage",
    "stale_statistics",
    "step",
    "term",
    "term_change",
    "trained_classifier",
    "turn",
    "verdict",
    "worker",
]
