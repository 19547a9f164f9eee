"""`make wording` runs tests with replaced texts. These tests check that the texts are replaced."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pgclarify.embedded.listening import Address
from pgclarify.errors import InputError
from tests import scrambled
from tests.workers import scalar

Connection = psycopg.Connection[Any]


def test_what_the_server_raises_is_replaced(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedObject) as refused:
        scalar(connection, "select pgclarify.drop_corpus('insurance')")
    diagnostic = refused.value.diag
    for text in (diagnostic.message_primary, diagnostic.message_detail, diagnostic.message_hint):
        assert is_replaced(text) is scrambled.is_on()


def test_what_python_raises_is_replaced() -> None:
    with pytest.raises(InputError) as refused:
        Address.parse("nowhere")
    for text in (refused.value.message, refused.value.detail, refused.value.hint):
        assert is_replaced(text) is scrambled.is_on()


def is_replaced(text: str | None) -> bool:
    return scrambled.TOKEN.search(text or "") is not None
