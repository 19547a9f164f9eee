"""The log of a worker as JSON, a line for each record, for programs that collect logs."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from pgclarify.protocols import current_payer
from pgclarify.tracing import current_ids


class JsonFormatter(logging.Formatter):
    """Writes a record as an object in JSON. Keys whose value is not known are left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record, with the run and the span in which it was made."""
        trace_id, span_id, _ = current_ids() or (None, None, None)
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "run_id": current_payer().run_id,
            "trace_id": trace_id,
            "span_id": span_id,
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({key: value for key, value in said.items() if value is not None})
