"""The papers whose tables can be made: the needs of each table, its rows, and the paper's figures.

docs/papers.md describes the tables, and which figures are not comparable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pgclarify.evaluation.papers.ambigprompt import AMBIGPROMPT
from pgclarify.evaluation.papers.at_cot import AT_COT
from pgclarify.evaluation.papers.rewrite import REWRITE
from pgclarify.evaluation.papers.sunar import SUNAR
from pgclarify.evaluation.papers.tables import Column, Paper, PaperTable, Part, Row
from pgclarify.evaluation.papers.verdict import VERDICT

PAPERS: Final[Mapping[str, Paper]] = {one.name: one for one in (VERDICT, SUNAR, AT_COT, AMBIGPROMPT, REWRITE)}
"""Papers by their name on the command line."""

__all__ = ["PAPERS", "Column", "Paper", "PaperTable", "Part", "Row"]
