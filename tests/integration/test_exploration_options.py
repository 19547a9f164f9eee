"""Options of a search that explores, or that reranks."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connection, HandWorker, scalar
from tests.integration.exploring import ANGLES, user, worker
from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back

__all__ = ["user", "worker"]

SETTINGS = """
    select pgclarify_private.check_settings(
        'search',
        pgclarify_private.check_options(%s, pgclarify_private.options_of('search'))
        || jsonb_build_object('top_k', %s::integer)
    )
"""


class TestOptions:
    """The options of `search`, and the settings that the run stores."""

    @in_turn(
        "options, kept",
        [
            ({"method": "dense"}, {"method": "dense"}),
            (
                {"retrieval": "adaptive"},
                {"method": "hybrid", "retrieval": "adaptive", "reranker": "signal", "max_passages": 100},
            ),
            (
                {"retrieval": "adaptive", "method": "lexical", "reranker": "model", "max_passages": 10},
                {"method": "lexical", "retrieval": "adaptive", "reranker": "model", "max_passages": 10},
            ),
            ({"reranker": "a-model"}, {"method": "hybrid", "reranker": "a-model", "max_passages": 100}),
            (
                {"method": "lexical", "reranker": "signal", "max_passages": 30.0},
                {"method": "lexical", "reranker": "signal", "max_passages": 30},
            ),
        ],
    )
    def test_options_are_stored_with_their_defaults(
        self, connection: Connection, options: dict[str, Any], kept: dict[str, Any]
    ) -> None:
        assert scalar(connection, SETTINGS, json.dumps(options), 10) == kept | {"top_k": 10, "timeout": "60s"}

    def test_max_passages_is_no_less_than_what_is_asked_for(self, connection: Connection) -> None:
        given = '{"retrieval": "adaptive"}'
        for top_k, most in ((1, 100), (100, 100), (101, 101), (1000, 1000)):
            assert scalar(connection, SETTINGS, given, top_k)["max_passages"] == most

    @in_turn(
        "options",
        [
            {"max_passages": 10},
            {"method": "lexical", "max_passages": 10},
            {"retrieval": "adaptive", "max_passages": 9},
            {"reranker": "model", "max_passages": 9},
        ],
    )
    def test_max_passages_is_for_more_passages_of_an_exploration_or_a_reranker(
        self, user: Connection, worker: HandWorker, options: dict[str, Any]
    ) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            user.execute("select pgclarify.search('cars', 'insurance', options => %s)", [json.dumps(options)])
        assert refused.value.diag.column_name == "max_passages"
        assert refused.value.diag.message_hint

    def test_whole_numbers_are_kept_as_such(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        ids = [
            scalar(user, "select pgclarify.submit('clarify', 'cars', 'insurance', %s)", f'{{"max_passages": {most}}}')
            for most in ("8", "8.0", "0.8e1")
        ]
        assert connection.execute(
            "select distinct settings ->> 'max_passages', encode(reuse_key, 'hex') from pgclarify_private.run"
        ).fetchall() == [("8", scalar(connection, "select encode(max(reuse_key), 'hex') from pgclarify_private.run"))]
        assert worker.start(ids[1]) is not None
        assert len(worker.retrieve(ids[1], 1, "at 10", [1, 0, 0, 0])) == len(ANGLES)


class TestOptionsOfClarify:
    """What `clarify` takes."""

    CALLS = (
        "select pgclarify.submit('clarify', 'cars', 'insurance', jsonb_build_object('top_k', %s::integer) || %s::jsonb)",  # noqa: E501
        "select pgclarify.submit_many('clarify', array['cars'], 'insurance', jsonb_build_object('top_k', %s::integer) || %s::jsonb)",  # noqa: E501
        "select pgclarify.clarify('cars', 'insurance', %s, options => %s)",
        "select pgclarify.clarify_many(array['cars'], null, 'insurance', %s, options => %s)",
    )

    @in_turn("call", CALLS)
    def test_no_more_can_be_judged_than_are_retrieved(self, user: Connection, worker: HandWorker, call: str) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            user.execute(call.encode(), [4, '{"max_passages": 5}'])
        assert refused.value.diag.column_name == "max_passages"
        assert refused.value.diag.message_hint

    def test_as_many_can_be_judged_as_are_retrieved(self, user: Connection, worker: HandWorker) -> None:
        for options in ('{"max_passages": 4}', '{"max_passages": 5, "retrieval": "adaptive"}'):
            assert scalar(user, self.CALLS[0], 4, options)
