"""Valid names of an embedding model, and the message about one that no worker has loaded."""

from __future__ import annotations

import pytest

from tests.integration.manual_worker import MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connection, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

INVALID_PARAMETER = "22023"
SET = "select pgclarify_private.set_embedding_model(caller, %s, %s) from pgclarify_private.caller"


@parametrize_in_one_test(
    "model",
    [
        "all-MiniLM-L6-v2",
        "BAAI/bge-m3",
        "endpoint:nomic-embed-text:v1.5@256",
        "./models/my model (2)",
        "/srv/modèles/é",
        "~/m",
        "sub/folder/m.v2",
    ],
)
def test_a_model_is_a_name_or_a_path(connection: Connection, model: str) -> None:
    assert sqlstate_of(connection, "select pgclarify.create_corpus(%s, %s)", [model] * 2) is None
    for given, state in ((model, None), ("{}", INVALID_PARAMETER)):
        assert sqlstate_of(connection, SET, [model, given]) == state


@parametrize_in_one_test("model", ["endpoint:", "endpoint:@256", "endpoint: m"])
def test_an_endpoint_without_a_model_is_none(connection: Connection, model: str) -> None:
    assert sqlstate_of(connection, "select pgclarify.create_corpus('a', %s)", [model]) == INVALID_PARAMETER


@parametrize_in_one_test("name", ["extractive", "extractive-1", "extractive@256"])
def test_the_name_of_the_extractive_provider_is_refused_at_an_endpoint(connection: Connection, name: str) -> None:
    # A model with such a name would be free of charge.
    at_endpoint = f"endpoint:{name}"
    assert sqlstate_of(connection, "select pgclarify.create_corpus('a', %s)", [at_endpoint]) == INVALID_PARAMETER
    assert sqlstate_of(connection, "select pgclarify.create_corpus(%s, %s)", [name, f"{at_endpoint}-qa"]) is None
    assert sqlstate_of(connection, SET, [name, at_endpoint]) == INVALID_PARAMETER


def test_a_model_that_no_worker_has_loaded_is_warned_of(connection: Connection, make_worker: MakeWorker) -> None:
    told: list[str | None] = []
    connection.add_notice_handler(lambda said: told.append(said.severity_nonlocalized))
    # Without a worker, no models are known, so there is no warning.
    scalar(connection, "select pgclarify.create_corpus('a', 'misspelt')")
    assert told == []
    make_worker()
    scalar(connection, "select pgclarify.create_corpus('b', 'misspelt')")
    assert told == ["WARNING"]
    scalar(
        connection,
        "select pgclarify_private.set_embedding_model(caller, 'b', 'misspelt-again') from pgclarify_private.caller",
    )
    assert told == ["WARNING"] * 2
    scalar(connection, "select pgclarify.create_corpus('c')")
    connection.execute("update pgclarify_private.worker set embedding_models = array['known']")
    scalar(connection, "select pgclarify.create_corpus('d', 'known')")
    assert told == ["WARNING"] * 2
