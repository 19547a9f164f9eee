"""The example runs twice on the corpus of the demo, as a new user runs it. The second time it asks nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.acceptance.conftest import House, empty_house
from tests.dbt.project import DBT, PACKAGE

__all__ = ["empty_house"]


def run(house: House, *command: str | Path) -> str:
    """Run a command, require success, and return its output."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PGCLARIFY_", "OPENAI_", "PG"))
    }
    own = {"PGCLARIFY_DATA_DIR": str(house.folder / "data"), "PGCLARIFY_DBT": str(DBT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        env=inherited | own,
        cwd=house.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_example_twice(empty_house: House) -> None:
    left_out = shutil.ignore_patterns("target", "logs", "dbt_packages", "package-lock.yml")
    shutil.copytree(PACKAGE, empty_house.folder / "dbt", ignore=left_out)
    script = empty_house.folder / "dbt" / "example" / "run.py"

    # An interrupted installation leaves such a folder.
    script.with_name("dbt_packages").mkdir()
    first = run(empty_house, sys.executable, script)
    looks = re.findall(r'^  (psql "\$\(\S*pgclarify dsn\)" -c .*)$', first, re.M)
    assert "rental cars" in run(empty_house, "sh", "-c", looks[0]), "the printed command works unchanged"
    again = run(empty_house, sys.executable, script)
    assert "60 distinct questions, 0 to be asked" in again
    assert "0 failed" in again
    assert "calls" not in first + again, "the extractive provider makes no calls"

    unanswered = empty_house.sql("select string_agg(query, ',') from insurer.unanswered_searches")
    assert "pizza" in unanswered.split(",")
    assert empty_house.sql("select count(*) from insurer.unanswered_searches where is_gap") == "0", "no model judged"
    closest = "select count(*) > 0 from insurer.unanswered_searches where closest_document_id is not null"
    assert empty_house.sql(closest) == "True"
    assert empty_house.sql("select count(*) from pgclarify.asked_question where is_gap") == "0"
    assert int(empty_house.sql("select count(*) from insurer.search_interpretations where ordinal is not null")) > 60
    clear = int(empty_house.sql("select count(*) from insurer.search_detections where not is_ambiguous"))
    assert 10 < clear < 50
    assert empty_house.sql("select count(*) from insurer.cited_documents where document_id is null") == "0"
    costs = "select string_agg(model, ' ' order by model), min(runs) > 0, sum(cost_usd) = 0 from insurer.search_costs"
    assert empty_house.sql(costs) == "search_detections search_interpretations|True|True"
