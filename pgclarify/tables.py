"""The views of schema pgclarify as tables of SQLAlchemy, for select() and pandas.

`make reference` writes their columns into tables.json, from the views in the database. A foreign key means that two
views join; views have none.
"""

import json
from importlib.resources import files
from typing import Any

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    ForeignKeyConstraint,
    Integer,
    Interval,
    MetaData,
    Numeric,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB, OID
from sqlalchemy.types import TypeEngine

metadata = MetaData(schema="pgclarify")

_TYPES: dict[str, TypeEngine[Any]] = {
    "bigint": BigInteger(),
    "boolean": Boolean(),
    "date": Date(),
    "double precision": Double(),
    "integer": Integer(),
    "interval": Interval(),
    "jsonb": JSONB(),
    "name": Text(),
    "name[]": ARRAY(Text),
    "numeric": Numeric(),
    "oid": OID(),
    "real": REAL(),
    "text": Text(),
    "text[]": ARRAY(Text),
    "timestamp with time zone": DateTime(timezone=True),
}
_VIEWS = json.loads((files("pgclarify") / "tables.json").read_text(encoding="utf-8"))


def _view(name: str) -> Table:
    columns = (Column(column, _TYPES[kind]) for column, kind in _VIEWS[name]["columns"].items())
    keys = (ForeignKeyConstraint(here, there) for here, there in _VIEWS[name]["foreign_keys"])
    return Table(name, metadata, *columns, *keys)


ambiguity_rule = _view("ambiguity_rule")
asked_question = _view("asked_question")
budget = _view("budget")
candidate = _view("candidate")
citation = _view("citation")
clarifying_question = _view("clarifying_question")
corpus = _view("corpus")
detection = _view("detection")
document = _view("document")
estimate = _view("estimate")
evaluation = _view("evaluation")
feedback = _view("feedback")
finding = _view("finding")
interpretation = _view("interpretation")
investigation_step = _view("investigation_step")
listed_answer = _view("listed_answer")
model_price = _view("model_price")
passage = _view("passage")
queue_status = _view("queue_status")
rewriting = _view("rewriting")
run = _view("run")
source_status = _view("source_status")
stale_answer = _view("stale_answer")
usage = _view("usage")
verdict = _view("verdict")
worker_status = _view("worker_status")
