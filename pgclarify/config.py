"""Settings, read from the environment (and from a .env file in the working directory)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

import platformdirs
from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgclarify.data.vocabulary import Provider as Provider
from pgclarify.errors import ConfigurationError

ENV_FILE = ".env"
"""The file in the working directory with settings that the environment does not have."""
# One sets how unexpected errors are shown; the projects of the dbt package read the other.
_OTHER_VARIABLES = ("PGCLARIFY_DEBUG", "PGCLARIFY_DBT")


class ReasoningEffort(StrEnum):
    """The reasoning effort of a model. Each model accepts only some of these."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Device(StrEnum):
    """The device that computes embedding models and cross-encoders. All but AUTO and INT8 are devices of PyTorch."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"
    INT8 = "int8"


class LogFormat(StrEnum):
    """The form of a worker's log."""

    TEXT = "text"
    JSON = "json"


class Settings(BaseSettings):
    """All settings of pgclarify. API keys are only here: never in SQL, a table, a log line or an error."""

    model_config = SettingsConfigDict(
        env_prefix="PGCLARIFY_",
        env_file=ENV_FILE,
        extra="ignore",
        populate_by_name=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    database_url: str | None = Field(
        default=None, description="Connection string of the PostgreSQL server. Unset: the embedded server."
    )
    data_dir: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("pgclarify"),
        description="Folder of the embedded server's data.",
    )
    loopback_password: SecretStr | None = Field(
        default=None,
        description="Password of the role pgclarify_loopback, for init in a second database of one server.",
    )
    llm_provider: Provider = Field(
        default=Provider.AUTO,
        description="openai, extractive, or auto: openai if an address, a key or a .gguf file of a language model is"
        " set. Otherwise extractive on the embedded server, and an error on another server.",
    )
    llm_model: str | None = Field(
        default=None,
        description="The endpoint's name of the language model; or, if no endpoint is set, the path of a .gguf file"
        " that the worker serves for itself.",
    )
    llm_reasoning_effort: ReasoningEffort | None = Field(
        default=None,
        description="How much the model thinks before it answers: none, minimal, low, medium, high, xhigh or max."
        " Unset: the model decides.",
    )
    llm_concurrency: int = Field(
        default=16, ge=1, le=4096, description="Most calls in flight at once, for each worker."
    )
    llm_timeout: float = Field(
        default=60.0,
        gt=0,
        # A call with all its retries takes up to four times as long, and must end before its lease in the ledger.
        le=600,
        description="Seconds that the endpoint may be silent, or may need to complete an answer that it has begun. At"
        " most 600.",
    )
    llm_requests_per_minute: int | None = Field(
        default=None, ge=1, description="Most calls a minute of all workers together. Unset: as the endpoint says."
    )
    llm_tokens_per_minute: int | None = Field(
        default=None, ge=1, description="Most tokens a minute of all workers together. Unset: as the endpoint says."
    )
    embedding_model: str = Field(
        default="all-MiniLM-L6-v2",
        description="Model of new corpora: a sentence-transformers name, a local path, or endpoint: and the name of a"
        " model behind an endpoint.",
    )
    embedding_base_url: str | None = Field(
        default=None,
        description="An OpenAI-compatible endpoint of embeddings. Unset: OPENAI_BASE_URL.",
    )
    embedding_api_key: SecretStr | None = Field(
        default=None,
        description="Key of the embedding endpoint. Unset: OPENAI_API_KEY, unless PGCLARIFY_EMBEDDING_BASE_URL is set.",
    )
    embedding_api_key_file: Path | None = Field(
        default=None,
        description="A file with the key of the embedding endpoint, instead of PGCLARIFY_EMBEDDING_API_KEY.",
    )
    embedding_requests_per_minute: int | None = Field(
        default=None, ge=1, description="As PGCLARIFY_LLM_REQUESTS_PER_MINUTE, of the embedding endpoint."
    )
    embedding_tokens_per_minute: int | None = Field(
        default=None, ge=1, description="As PGCLARIFY_LLM_TOKENS_PER_MINUTE, of the embedding endpoint."
    )
    device: Device = Field(
        default=Device.AUTO,
        description="What computes models in the worker. auto: ONNX Runtime for all-MiniLM-L6-v2, PyTorch for others,"
        " on a GPU if it finds one. cpu, cuda (also ROCm) or mps: PyTorch for all, there. int8: as auto, but"
        " all-MiniLM-L6-v2 in 8-bit integers, which is faster and less exact.",
    )
    rerank_base_url: str | None = Field(
        default=None,
        description="An endpoint of rerankers: its address without /rerank. Unset: OPENAI_BASE_URL;"
        " none if PGCLARIFY_LLM_PROVIDER is extractive.",
    )
    rerank_api_key: SecretStr | None = Field(
        default=None,
        description="Key of the endpoint of rerankers. Unset: OPENAI_API_KEY, unless PGCLARIFY_RERANK_BASE_URL is set.",
    )
    rerank_api_key_file: Path | None = Field(
        default=None,
        description="A file with the key of the endpoint of rerankers, instead of PGCLARIFY_RERANK_API_KEY.",
    )
    rerank_requests_per_minute: int | None = Field(
        default=None, ge=1, description="As PGCLARIFY_LLM_REQUESTS_PER_MINUTE, of the endpoint of rerankers."
    )
    rerank_tokens_per_minute: int | None = Field(
        default=None, ge=1, description="As PGCLARIFY_LLM_TOKENS_PER_MINUTE, of the endpoint of rerankers."
    )
    openai_base_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("OPENAI_BASE_URL", "openai_base_url"),
        description="An OpenAI-compatible endpoint of the language model.",
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("OPENAI_API_KEY", "openai_api_key"),
        description="Key of the language model's endpoint.",
    )
    openai_api_key_file: Path | None = Field(
        default=None,
        validation_alias=AliasChoices("OPENAI_API_KEY_FILE", "openai_api_key_file"),
        description="A file with the key of the language model's endpoint, instead of OPENAI_API_KEY. It is read again"
        " for each call.",
    )
    azure_openai_endpoint: str | None = Field(
        default=None,
        validation_alias=AliasChoices("AZURE_OPENAI_ENDPOINT", "azure_openai_endpoint"),
        description="Azure OpenAI instead of OPENAI_BASE_URL: the address of the resource.",
    )
    azure_openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("AZURE_OPENAI_API_KEY", "azure_openai_api_key"),
        description="Key of Azure OpenAI.",
    )
    openai_api_version: str | None = Field(
        default=None,
        validation_alias=AliasChoices("OPENAI_API_VERSION", "openai_api_version"),
        description="Version of the API of Azure OpenAI, such as 2024-10-21.",
    )
    log_format: LogFormat = Field(
        default=LogFormat.TEXT,
        description="The form of a worker's log: text, or json, with the ids of run and trace in each line.",
    )

    @property
    def torch_device(self) -> Device:
        """Return the device for models of PyTorch."""
        return Device.AUTO if self.device is Device.INT8 else self.device

    @property
    def has_endpoint(self) -> bool:
        """Return whether an endpoint of a language model is set."""
        given = (self.openai_base_url, self.openai_api_key, self.openai_api_key_file, self.azure_openai_endpoint)
        return any(one is not None for one in given)

    @property
    def model_file(self) -> Path | None:
        """Return the GGUF file that the worker serves for itself; None if there is none, or an endpoint is set."""
        if self.has_endpoint or self.llm_model is None or not self.llm_model.endswith(".gguf"):
            return None
        return Path(self.llm_model).expanduser()

    @property
    def has_model(self) -> bool:
        """Return whether an endpoint or a file of a language model is set."""
        return self.has_endpoint or self.model_file is not None

    @property
    def chosen_provider(self) -> Provider | None:
        """Return the provider of a worker with these settings; None if it must not start.

        On a server of the user's own, auto needs a model: a missing key must not silently select the rules.
        """
        if self.llm_provider is not Provider.AUTO:
            return self.llm_provider
        if self.has_model:
            return Provider.OPENAI
        return Provider.EXTRACTIVE if self.database_url is None else None

    @field_validator("openai_api_key", "azure_openai_api_key", "embedding_api_key", "rerank_api_key")
    @classmethod
    def _check_key(cls, key: SecretStr | None) -> SecretStr | None:
        """Refuse a key that no HTTP header can carry, because the error would look like a fault of the endpoint."""
        if key is not None and not is_key(key.get_secret_value().strip()):
            raise PydanticCustomError(
                "key", "a key is ASCII without blanks or control characters; was it copied from an example, or in part?"
            )
        return key

    @field_validator("*", mode="before")
    @classmethod
    def _no_blank(cls, value: object, info: ValidationInfo) -> object:
        """Treat a blank variable as unset, because a blank is no valid address, key, file name or number."""
        is_optional = cls.model_fields[str(info.field_name)].default is None
        return None if is_optional and isinstance(value, str) and not value.strip() else value


def read_settings() -> Settings:
    """Read the settings of this process.

    Raises:
        ConfigurationError: If a setting cannot be used. Its value is not repeated, because it may be a key.
    """
    try:
        return Settings()
    except UnicodeDecodeError:
        raise ConfigurationError(f"{ENV_FILE} is not in UTF-8", hint="Convert it, or write it again.") from None
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        wrong = "; ".join(f"{_variable(problem['loc'])}: {problem['msg']}" for problem in problems)
        raise ConfigurationError(
            "a setting cannot be used", detail=f"{wrong}.", hint="Correct it in the environment or in .env."
        ) from None


def _variable(location: Sequence[int | str]) -> str:
    name = str(location[0]).upper()
    return name if name.startswith("OPENAI_") else f"PGCLARIFY_{name}"


def is_key(text: str) -> bool:
    """Return whether an HTTP header can carry a text as a key; the text may be empty."""
    return re.fullmatch("[!-~]*", text) is not None


def foreign_variables() -> Sequence[str]:
    """Return settings of endpoints that are only in the file .env, if nothing in it is for pgclarify alone."""
    stored = {name.upper() for name, value in dotenv_values(ENV_FILE).items() if value}
    if any(name.startswith(Settings.model_config["env_prefix"]) for name in stored):
        return []
    aliased = {name.upper() for name, field in Settings.model_fields.items() if field.validation_alias}
    return sorted(stored & aliased - {name.upper() for name, value in os.environ.items() if value})


def unknown_variables() -> Mapping[str, str | None]:
    """Return variables of the environment and of .env with a prefix of settings that are no settings.

    Returns:
        For each of them the most similar name of a setting, or None.
    """
    prefix = Settings.model_config["env_prefix"]
    aliased = {name.upper() for name, field in Settings.model_fields.items() if field.validation_alias}
    ours = {f"{prefix}{name.upper()}" for name in Settings.model_fields if name.upper() not in aliased}
    # Compared without the prefix, which would make all names similar.
    names = {name.removeprefix(prefix): name for name in sorted(ours | aliased)}
    return {
        name: next((names[near] for near in get_close_matches(name.upper().removeprefix(prefix), names, n=1)), None)
        for name in sorted({*os.environ, *dotenv_values(ENV_FILE)})
        if name.upper().startswith(prefix)
        and name.upper() not in ours
        and not name.upper().startswith(_OTHER_VARIABLES)
    }
