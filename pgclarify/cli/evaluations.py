"""The group of commands under eval."""

from __future__ import annotations

from pgclarify.cli import comparing, evaluating, evaluation_list, papers, reporting

app = evaluating.app
app.command(epilog=papers.PAPER_EXAMPLES)(papers.paper)
app.command("list", epilog=evaluation_list.LIST_EXAMPLES)(evaluation_list.list_evaluations)
app.command(epilog=comparing.COMPARE_EXAMPLES)(comparing.compare)
app.command("report", epilog=reporting.EVALUATION_EXAMPLES)(reporting.report_evaluations)
