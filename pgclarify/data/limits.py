"""What a document may have. SQL function pgclarify_private.made_document has the same limits; a test compares them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

# A worker needs about five minutes on two cores to embed a document of this size.
MOST_CONTENT_CHARS: Final = 10_000_000
MOST_ID_CHARS: Final = 1000
# An entry of the index has at most 2704 bytes, with the other columns of the key.
MOST_ID_BYTES: Final = 2600
MOST_ORIGIN_BYTES: Final = 2600
MOST_URI_CHARS: Final = 10_000
# As PostgreSQL stores them.
MOST_METADATA_BYTES: Final = 1_000_000
MOST_READERS: Final = 1000
# PostgreSQL would cut a longer name, and it would be that of another role.
MOST_READER_BYTES: Final = 63
# In every time zone, such a date has a year of four digits.
FIRST_DATE: Final = datetime(2, 1, 1, tzinfo=UTC)
LAST_DATE: Final = datetime(9999, 1, 1, tzinfo=UTC)
