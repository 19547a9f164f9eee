"""Write all generated files: `python -m generate`."""

from __future__ import annotations

from generate.files import FILES, ROOT

for path, content in FILES.items():
    (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
    (ROOT / path).write_text(content(), encoding="utf-8")
