"""The options of the methods of an evaluation."""

from __future__ import annotations

import asyncio
from unittest.mock import AsyncMock

import pytest

from pgclarify.errors import InputError
from pgclarify.evaluation.methods import check_settings


@pytest.mark.parametrize("method", ["clarify", "list_answers", "rac"])
@pytest.mark.parametrize("setting", [{"corpus": "kb"}, {"timeout": "1s"}, {"question": "Who?"}, {"top_k": "x"}])
def test_an_option_that_an_evaluation_sets_by_itself_is_refused(method: str, setting: dict[str, object]) -> None:
    with pytest.raises(InputError):
        asyncio.run(check_settings(AsyncMock(), method, setting))
