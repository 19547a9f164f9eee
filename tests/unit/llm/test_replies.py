"""A form is read out of whatever a model wraps around it, in a time that its length explains."""

import pytest
from pydantic import BaseModel

from pgclarify.errors import InvalidReply
from pgclarify.llm.replies import read_form
from pgclarify.model import Completion

FORM = '{"answer": "``` yes"}'


class Form(BaseModel):
    answer: str


def read(reply: str) -> Form:
    return read_form(Form, Completion(reply, None, None, 1.0))


@pytest.mark.parametrize(
    "reply",
    [
        FORM,
        f"  {FORM}\n",
        f"```json\n{FORM}\n```",
        f"\n``` \n\n {FORM} ```\n",
        f"<think>{{}} ``` </think>\n```json\n{FORM}```",
    ],
)
def test_what_is_wrapped_around_a_form_is_left_out(reply: str) -> None:
    assert read(reply).answer == "``` yes"


@pytest.mark.parametrize(
    "reply", ["```", "``````", f"```sql\n{FORM}\n```", f"```{FORM}```", f"```\n{FORM}", f"Yes: {FORM}"]
)
def test_what_is_no_such_wrapping_is_not_taken_off(reply: str) -> None:
    with pytest.raises(InvalidReply):
        read(reply)


# Models repeat themselves until they are stopped. An expression that tries all ends of a block takes hours over these.
@pytest.mark.parametrize(
    "reply", ["```" + "\n" * 50_000, "```\n" + " " * 50_000 + "x", "```\n" * 20_000, "<think>" * 20_000, "[" * 100_000]
)
def test_a_reply_that_repeats_itself_is_read_at_once(reply: str) -> None:
    with pytest.raises(InvalidReply):
        read(reply)
