"""The key of an endpoint from a file: when it is read, which files are refused, and that no error shows it."""

import logging
from pathlib import Path

import pytest
from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError, EndpointUnavailable
from pgclarify.providers.client import Address
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.endpoint_embedder import EndpointEmbedder
from pgclarify.providers.key import Key
from tests.openai_server import Reply, serve
from tests.unit.providers.test_endpoint import endpoint_of, request

OLD = "sk-old-0123456789"
NEW = "sk-new-0123456789"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{OLD}\n")
    return path


async def test_a_try_after_a_change_has_the_new_key(file):
    async with serve() as server, endpoint_of(server, key_file=file, max_retries=1) as endpoint:

        def behavior(chat):
            if server.calls == 1:
                file.write_text(NEW)
                return Reply.error(503, retry_after=0.01)
            return Reply("{}")

        server.behavior = behavior
        await endpoint.complete(request())
    assert server.keys == {OLD, NEW}


@pytest.mark.parametrize("change", ["removed", "empty", "a page"])
def test_the_last_key_stays_while_the_file_holds_none_and_that_is_said_once(file, caplog, change):
    key = Key(None, file, "OPENAI_API_KEY")
    if change == "removed":
        file.unlink()
    else:
        file.write_text("" if change == "empty" else "<html>Not found</html>")
    assert [key.current(), key.current()] == [OLD, OLD]
    assert len(caplog.records) == 1
    file.write_text(NEW)
    assert key.current() == NEW
    file.unlink()
    assert key.current() == NEW
    assert len(caplog.records) == 2
    assert OLD not in caplog.text
    assert NEW not in caplog.text


async def test_neither_the_old_nor_the_new_key_is_in_errors_or_logs(file, caplog):
    async with serve() as server, endpoint_of(server, key_file=file) as endpoint:

        def behavior(chat):
            file.write_text(NEW)
            return Reply.error(500, f"{OLD} and {NEW} failed")

        server.behavior = behavior
        with caplog.at_level(logging.DEBUG):
            for _ in range(2):
                with pytest.raises(EndpointUnavailable) as caught:
                    await endpoint.complete(request())
                shown = f"{caught.value!r} {caught.value.detail} {caplog.text} {endpoint!r}"
                assert "failed" in shown
                assert OLD not in shown
                assert NEW not in shown


@pytest.mark.parametrize(
    "content",
    [None, b" \n", b"sk-one\nsk-two", b"a" * 20_000, b"\xff\xfe"],
    ids=["missing", "blank", "two keys", "large", "no text"],
)
def test_a_file_without_a_key_is_an_error_at_the_start(tmp_path, content):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        Address(None, key_file=file)
    assert caught.value.sqlstate == "PC009"
    assert str(file) in str(caught.value.detail)
    assert "OPENAI_API_KEY_FILE" in str(caught.value.hint)
    assert "sk-" not in f"{caught.value} {caught.value.detail}"


@pytest.mark.parametrize("has_own", [True, False])
async def test_embeddings_take_their_key_from_a_file(file, has_own):
    async with serve() as server:
        settings = (
            Settings(embedding_api_key_file=file, embedding_base_url=server.base_url)
            if has_own
            else Settings(openai_api_key_file=file, openai_base_url=server.base_url)
        )
        endpoint = EmbeddingEndpoint.from_settings(settings)
        try:
            await EndpointEmbedder.open(endpoint, "endpoint:rules-1")
            file.write_text(NEW)
            await EndpointEmbedder.open(endpoint, "endpoint:rules-1")
        finally:
            await endpoint.aclose()
        assert server.keys == {OLD, NEW}


def test_a_key_and_a_file_contradict_each_other(file):
    with pytest.raises(ConfigurationError) as caught:
        Address(None, SecretStr(NEW), key_file=file)
    assert "OPENAI_API_KEY_FILE" in caught.value.message
    assert NEW not in f"{caught.value} {caught.value.detail}"
    # A blank variable is not a key.
    assert Address(None, SecretStr(" "), key_file=file).has_key


def test_the_environment_names_the_file(file, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", " ")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("OPENAI_BASE_URL", " ")
    assert not Settings().has_endpoint
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(file))
    settings = Settings(llm_model="m")
    assert settings.has_endpoint
    assert Endpoint.from_settings(settings).address.has_key
