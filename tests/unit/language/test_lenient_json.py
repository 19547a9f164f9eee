"""Replies are read whatever form models give them, and a mend changes no word of a quote."""

import json
import random
from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.lenient_json import Mend, mend

TEXT = {"type": ["string", "null"]}
SCHEMA = {
    "type": "object",
    "properties": {"interpretation": TEXT, "answer": TEXT, "quote": TEXT},
    "required": ["interpretation", "answer", "quote"],
    "additionalProperties": False,
}
FOUND = {
    "interpretation": "How much does the blue sled cost a day?",
    "answer": "35 dollars",
    "quote": 'The "blue" sled costs\n35 dollars {a day}, isn\'t it?',
}
FORM = json.dumps(FOUND)
LINES = json.dumps(FOUND, indent=1)

AROUND = {
    "plain": ("{}", ()),
    "blanks": ("\n {} \n", ()),
    "a fence": ("```json\n{}\n```", (Mend.CODE_BLOCK,)),
    "a fence with another tag": ("```JSON5\n{}\n```", (Mend.CODE_BLOCK,)),
    "a fence of waves": ("~~~\n{}\n~~~", (Mend.CODE_BLOCK,)),
    "a fence on one line": ("```json {} ```", (Mend.CODE_BLOCK,)),
    "a fence without end": ("```json\n{}", (Mend.CODE_BLOCK,)),
    "words before": ("Here it is: {}", (Mend.WORDS,)),
    "a correction before": ("My first idea was wrong. Correction: {}", (Mend.WORDS,)),
    "words before a fence and after it": ("Sure:\n\n```json\n{}\n```\nShall I go on?", (Mend.WORDS,)),
    "braces in the words before": ("The set {{1, 2}} has it: {}", (Mend.WORDS,)),
    "an offer after it": ("{}\n\nLet me know if you need anything else!", (Mend.WORDS,)),
    "another offer after it": ("{} I hope this helps. Is there anything else I can help you with?", (Mend.WORDS,)),
    "twice the same": ("{0}\n{0}", (Mend.WORDS,)),
    "the same after a doubt": ("{0} Is that right? Yes: {0}", (Mend.WORDS,)),
    "one more bracket": ("{}}}", (Mend.WORDS,)),
    "stars": ("**{}**", (Mend.WORDS,)),
    "a mark of the end": ("{}<|im_end|>", (Mend.WORDS,)),
    "a tag": ("<answer>{}</answer>", (Mend.WORDS,)),
    "box marks": ("<|begin_of_box|>{}<|end_of_box|>", (Mend.WORDS,)),
    "thoughts": ("<think>So {{}} ```</think>\n{}", (Mend.THOUGHTS,)),
    "thoughts in capitals": ("\n<Thinking>No, {{1}}.</thinking> {}", (Mend.THOUGHTS,)),
    "thoughts in brackets": ("[THINK]So?[/THINK]{}", (Mend.THOUGHTS,)),
    "thoughts in triangles": ("◁think▷So?◁/think▷{}", (Mend.THOUGHTS,)),
    "thoughts of a seed": ("<seed:think>So?</seed:think>{}", (Mend.THOUGHTS,)),
    "thoughts in bars": ("<|begin_of_thought|>So?<|end_of_thought|>{}", (Mend.THOUGHTS,)),
    "thoughts in other bars": ("<|START_THINKING|>So?<|END_THINKING|>{}", (Mend.THOUGHTS,)),
    "thoughts without a beginning": ('So {{"answer": "no"}}.\n</think>\n\n{}', (Mend.THOUGHTS,)),
    "thoughts and a fence": ("<think>So</think>```json\n{}```", (Mend.THOUGHTS, Mend.CODE_BLOCK)),
    "harmony": (
        '<|channel|>analysis<|message|>A price: {{"answer": 3}}<|end|><|start|>assistant<|channel|>final'
        " <|constrain|>json<|message|>{}<|return|>",
        (Mend.THOUGHTS,),
    ),
    "harmony without marks": ('analysisA price {{"answer": 3}}.assistantfinal{}', (Mend.THOUGHTS,)),
    "a list of one": ("[{}]", (Mend.WRAPPED,)),
    "another object": ('{{"verdict": {}}}', (Mend.WRAPPED,)),
    "a call of a tool": ('{{"name": "verdict", "arguments": {}}}', (Mend.WRAPPED,)),
}


@pytest.mark.parametrize("lines", [FORM, LINES], ids=["on one line", "on several lines"])
@pytest.mark.parametrize("form", AROUND)
def test_what_a_model_puts_around_an_object_is_left_out(form: str, lines: str) -> None:
    around, mends = AROUND[form]
    found = mend(around.format(lines), SCHEMA)
    assert json.loads(found.text) == FOUND
    assert found.mends == mends


PLAIN = {"interpretation": "How much?", "answer": "35 dollars", "quote": "It's {35} dollars, all day."}
BEFORE_QUOTE = '{"interpretation": "How much?", "answer": "35 dollars", "quote": '
QUOTE = '"It\'s {35} dollars, all day."'

MENDED = {
    "a comma before the end": (BEFORE_QUOTE + QUOTE + ",}", Mend.SYNTAX),
    "a missing comma": (BEFORE_QUOTE.replace('",', '"') + QUOTE + "}", Mend.SYNTAX),
    "keys without quotation marks": (BEFORE_QUOTE.replace('"quote"', "quote") + QUOTE + "}", Mend.SYNTAX),
    "single quotation marks": (
        "{'interpretation': 'How much?', 'answer': '35 dollars', 'quote': 'It\\'s {35} dollars, all day.'}",
        Mend.SYNTAX,
    ),
    "another key": (BEFORE_QUOTE + QUOTE + ', "confidence": 0.9}', Mend.EXTRA_KEY),
    "line breaks escaped twice": (BEFORE_QUOTE.replace("{", "{\\n  ") + QUOTE + "\\n}", Mend.ESCAPED),
    "all escaped": (json.dumps(BEFORE_QUOTE + QUOTE + "}"), Mend.ESCAPED),
    "all escaped without quotation marks": (json.dumps(BEFORE_QUOTE + QUOTE + "}")[1:-1], Mend.ESCAPED),
}


@pytest.mark.parametrize("form", MENDED)
def test_a_form_with_a_small_mistake_is_mended(form: str) -> None:
    reply, kind = MENDED[form]
    found = mend(reply, SCHEMA)
    assert json.loads(found.text) == PLAIN
    assert found.mends == (kind,)


@pytest.mark.parametrize(("number", "text"), [("35", "35"), ("35.50", "35.50"), ("-1", "-1"), ("0.1", "0.1")])
def test_a_number_as_the_answer_is_a_text_with_the_same_digits(number: str, text: str) -> None:
    found = mend(f'{{"interpretation": "a", "answer": {number}, "quote": "b"}}', SCHEMA)
    assert json.loads(found.text)["answer"] == text
    assert found.mends == (Mend.QUOTING,)


@pytest.mark.parametrize(
    ("kind", "sent", "read"), [("integer", '"3"', 3), ("boolean", '"True"', True), ("boolean", '"false"', False)]
)
def test_a_number_or_truth_value_in_quotation_marks_is_read(kind: str, sent: str, read: object) -> None:
    schema = {"properties": {"all": {"type": "array", "items": {"type": kind}}}, "additionalProperties": False}
    assert json.loads(mend(f'{{"all": [{sent}]}}', schema).text) == {"all": [read]}


UNSAFE = {
    "cut off in a quote": BEFORE_QUOTE + '"The sled costs 35 dollars only',
    "cut off after a quote": BEFORE_QUOTE + QUOTE,
    "cut off in a code block": f"```json\n{BEFORE_QUOTE}{QUOTE}\n```",
    "words without quotation marks": "{interpretation: How much, answer: 35 dollars, quote: It costs 35 dollars}",
    "an answer without quotation marks": '{"interpretation": "How much?", "answer": 35 dollars, "quote": "a"}',
    "two objects": FORM + "\n" + FORM.replace("35", "40"),
    "a draft and a reply": f'I think {{"answer": "40"}}, or rather {FORM}.',
    "quotation marks that end a quote early": BEFORE_QUOTE + '"He said "no" to it", "and" left."}',
    "several in a list": f"[{FORM}, {FORM.replace('35', '40')}]",
    "thoughts without end": f"<think>So {FORM}",
    "another end of thoughts": f"<think>So {FORM}</reasoning>",
    "a refusal": "I cannot help with {that}.",
    "half a surrogate pair": '{"interpretation": "\\ud83d", "answer": "a", "quote": "b",}',
}


@pytest.mark.parametrize("form", UNSAFE)
def test_a_reply_that_can_be_read_in_two_ways_is_not_mended(form: str) -> None:
    found = mend(UNSAFE[form], SCHEMA)
    try:
        read = json.loads(found.text)
    except ValueError:
        return
    assert not isinstance(read, dict) or read.keys() != set(FOUND)


TAKEN_BACK = {
    "a correction": "First idea: {}\nNo, that is wrong: 35 is the old contract. The answer must be 48 dollars.",
    "a denial": "{} No, that is wrong.",
    "one word": "{} Wrong",
    "a number": "{} 48",
    "after a fence": "```json\n{}\n```\nWait, the passage speaks of another sled.",
    "German": "{}\nDas stimmt nicht, es sind 48 Dollar.",
    "Chinese": "{}\n不对, 是48美元。",
    "Russian": "{} Нет, это неверно.",
    "a sign": "{} \u274c",
    "a question mark": "{} ???",
    "struck": "~~{}~~",
    "an explanation": "{} That closes the }} bracket.",
    "a reply that is cut off": "{}\nBut the new contract sa",
    "an object that is cut off": '{0}\n{{"interpretation": "How mu',
    "an object without its keys": "{}\n{{}}",
    "null": "{}\nnull",
    "a list with a denial": '[{}, "No, that is wrong."]',
    "another object with a denial": '{{"draft": {}, "correction": "48 dollars"}}',
    "another object that says it is wrong": '{{"draft": {}, "is_right": false}}',
    "a second object in it": '{{"interpretation": "a", "answer": "b", "quote": "c", "better": {}}}',
    "thoughts that end": "{}\n</think>",
    "thoughts that begin": "{}\n<think>No, that is wrong.</think>",
    "thoughts": "It may be {}, but the new contract says 48.\n</think>",
    "an offer and a denial": "{} Let me know if this is wrong.",
    "a denial before": "This is wrong: {}",
    "a denial before, in a sentence": "Ignore the following.\n\n{}",
    "a denial before a fence": "A mistaken reply would be:\n```json\n{}\n```",
    "an object that is called wrong": '{{"wrong_answer": {}}}',
    "an object after a denial": '{{"note": "Ignore what follows.", "reply": {}}}',
    "a tag that takes back": "<wrong>{}</wrong>",
    "a struck object": "<del>{}</del>",
}


@pytest.mark.parametrize("form", TAKEN_BACK)
@pytest.mark.parametrize("change", [str, lambda reply: reply.replace('",', '"')], ids=["right", "wrong marks"])
def test_an_object_that_what_follows_may_take_back_is_no_reply(form: str, change: Callable[[str], str]) -> None:
    found = mend(TAKEN_BACK[form].format(change(FORM)), SCHEMA)
    try:
        read = json.loads(found.text)
    except ValueError:
        return
    assert not isinstance(read, dict) or read.keys() != set(FOUND)


@pytest.mark.parametrize(
    "more",
    [{"correction": "48 dollars"}, {"note": "No, that is wrong."}, {"is_wrong": True}, {"withdrawn": "yes"}],
    ids=str,
)
def test_an_object_that_another_of_its_keys_takes_back_is_no_reply(more: dict[str, object]) -> None:
    reply = json.dumps(PLAIN | more)
    assert mend(reply, SCHEMA).text == reply


@pytest.mark.parametrize(
    "more", [{"correction": None}, {"is_wrong": False}, {"reasoning": "The passage says so."}], ids=str
)
def test_another_key_that_takes_nothing_back_is_left_out(more: dict[str, object]) -> None:
    assert json.loads(mend(json.dumps(PLAIN | more), SCHEMA).text) == PLAIN


def test_quotation_marks_inside_a_quote_are_kept() -> None:
    found = mend(BEFORE_QUOTE + '"He said "no, never" to it."}', SCHEMA)
    assert json.loads(found.text)["quote"] == 'He said "no, never" to it.'


def test_a_mark_within_an_answer_ends_no_thoughts() -> None:
    reply = '{"interpretation": "a", "answer": "it ends with </think> there", "quote": "b"}'
    assert mend(reply, SCHEMA).text == reply


# Pieces that confuse a repair: quotation marks, brackets, commas, escapes, names of keys.
PIECES = [
    "a",
    "Zoë",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\n",
    " ",
    "\u201c",
    "//",
    '", "answer": "',
    "35",
    "null",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.randoms(use_true_random=False),
)
def test_a_mended_quote_is_a_part_of_the_reply(answer: str, quote: str, chance: random.Random) -> None:
    reply = json.dumps({"interpretation": "x", "answer": answer, "quote": quote}, ensure_ascii=False)
    for _ in range(chance.randint(1, 2)):
        # A character is lost, doubled or changed, as models do.
        place = chance.randrange(len(reply))
        reply = reply[:place] + chance.choice(["", reply[place] * 2, *PIECES]) + reply[place + 1 :]
    found = mend(reply, SCHEMA)
    if not found.mends:
        return
    for text in filter(None, json.loads(found.text).values()):
        written = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        plain = reply.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")
        assert any(form in reply or form in plain for form in written)


# Models repeat themselves until they are stopped.
@pytest.mark.parametrize(
    "reply",
    [
        "```" + "\n" * 50_000,
        "```\n" + " " * 50_000 + "x",
        "```\n" * 20_000,
        "<think>" * 20_000,
        "<think></think>" * 20_000,
        "[" * 100_000,
        "{" * 100_000,
        '{"answer":' * 20_000,
        '{"answer":' * 900 + "1" + "}" * 900,
        '{"answer": "' + "\\n" * 50_000,
        '{"answer": "' + '"a' * 10_000 + '"}',
        '{"answer": ' * 5_000 + "}" * 5_000,
        "analysis" * 20_000,
    ],
    ids=lambda reply: repr(reply[:20]),
)
def test_a_reply_that_repeats_itself_is_read_at_once(reply: str) -> None:
    began = perf_counter()
    mend(reply, SCHEMA)
    assert perf_counter() - began < 2
