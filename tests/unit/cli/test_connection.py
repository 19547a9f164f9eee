"""Settings for commands: which are refused, and which server a URL means."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from pydantic import ValidationError

from pgclarify.cli import connection
from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError


@pytest.mark.parametrize("key", ["sk-…", "sk-pasted twice", "sk-\x7f"])
def test_a_key_that_no_header_carries_is_refused_and_not_repeated(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigurationError) as caught:
        connection.load_settings()
    assert (caught.value.detail or "").startswith("OPENAI_API_KEY: a key is ASCII")
    assert key not in f"{caught.value} {caught.value.detail} {caught.value.hint}"
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert key not in str(refused.value)


def test_a_blank_key_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert connection.load_settings().openai_api_key is None


@pytest.mark.parametrize("key", ["sk-1", "sk-copied-with-its-line-end\n", "a+b/c=~!"])
def test_other_keys_are_taken(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    settings = connection.load_settings()
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == key


@pytest.mark.parametrize(
    ("url", "is_embedded"),
    [
        ("postgresql://postgres@/pgclarify?host={folder}&port=5432", True),
        ("user=postgres dbname=pgclarify port=5432 host={plain}", True),
        ("postgresql://postgres@/app?host={folder}&port=5432", False),
        ("postgresql://ann@/pgclarify?host={folder}&port=5432", False),
        ("postgresql://postgres@/pgclarify?host=%2Felsewhere&port=5432", False),
        ("postgresql://[", False),
    ],
)
def test_the_url_of_the_embedded_server_counts_as_none(
    url: str, is_embedded: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cluster = tmp_path.resolve() / "data" / "postgres"
    url = url.format(folder=quote(str(cluster), safe=""), plain=cluster)
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", url)
    assert connection.load_settings().database_url == (None if is_embedded else url)


def test_another_url_is_left_alone_where_the_data_directory_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "data").touch()
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", "postgresql://db.example/app")
    assert connection.load_settings().database_url == "postgresql://db.example/app"
