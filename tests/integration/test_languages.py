# ruff: noqa: RUF001 -- full-width forms are what is tested
"""Searches by words in languages without a configuration in PostgreSQL, or without blanks between words."""

from __future__ import annotations

import json
import re

import pytest

from tests.integration.manual_worker import MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.retrieving import add_all, lexical
from tests.integration.test_retrieval import bm25
from tests.languages import CORPORA
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back


def pairs(text: str) -> list[str]:
    """What is compared of a Japanese text: pairs of letters of one script, letters alone, numbers."""
    runs = re.findall(r"[\u4e00-\u9fff々]+|[\u3041-\u309f]+|[\u30a1-\u30ffー]+|\d+", text)
    return [
        part
        for run in runs
        for part in ([run] if len(run) == 1 or run.isdigit() else (run[at : at + 2] for at in range(len(run) - 1)))
    ]


@parametrize_in_one_test(
    "text, parted",
    [
        ("開館時間は10時", "開館 館時 時間 は 10 時"),
        ("犬は", "犬 は"),
        ("２０２６年ﾌﾟﾘﾝﾀｰ", "2026 年 プリ リン ンタ ター"),
        ("도서관", "도서 서관"),
        ("ห้องสมุด", "ห้ ้อ อง งส สม มุ ุด"),
        ("The Tokyo 東京 tower", "The Tokyo 東京 tower"),
        # Only letters of these scripts and forms of their widths change.
        ("東京 Acme™ 50² ㎡", "東京 Acme™ 50² m2"),
        ("Ａｃｍｅ™ ５０²", "Acme™ 50²"),
    ],
)
def test_letters_are_paired_where_words_have_no_blanks(connection: Connection, text: str, parted: str) -> None:
    assert scalar(connection, "select pgclarify_private.with_blanks(%s)", text).split() == parted.split()


@parametrize_in_one_test(
    "text",
    ["Cars are insured.", "Die Straße ist naß", "l’été « chaud »", "żółw 🐢 5½", "\uf0b7 Acme™ pays 50²"],
)
def test_other_texts_have_the_lexemes_of_postgresql(connection: Connection, text: str) -> None:
    same = "select pgclarify_private.to_lexemes('german', %s) = to_tsvector('german', %s)"
    assert scalar(connection, same, text, text)


@parametrize_in_one_test("beside", ["東京", "도서관", "ห้องสมุด", "\uf0b7"])
def test_text_in_another_script_changes_no_lexeme(connection: Connection, beside: str) -> None:
    contained = """
        select
            tsvector_to_array(to_tsvector('simple', %s))
            <@ tsvector_to_array(pgclarify_private.to_lexemes('simple', %s))
    """
    text = "Acme™ pays 50² euros"
    assert scalar(connection, contained, text, f"{beside} {text}")


@pytest.mark.parametrize("config", ["simple", "english"])
def test_japanese_is_ranked_by_bm25_of_its_pairs(connection: Connection, make_worker: MakeWorker, config: str) -> None:
    connection.execute(
        "select pgclarify.create_corpus('insurance', options => jsonb_build_object('search_config', %s::text))",
        [config],
    )
    passages = {one.id: one.content.translate(WIDE) for one in CORPORA["japanese"].documents}
    add_all(connection, passages)
    make_worker().index_everything()

    for asked in CORPORA["japanese"].questions:
        expected = bm25({key: pairs(content) for key, content in passages.items()}, pairs(asked.question))
        assert dict(lexical(connection, asked.question)) == pytest.approx(expected, rel=1e-6)


def test_a_question_finds_what_shares_a_part_of_a_clause(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    documents = {
        "chinese": "市图书馆上午九点开门，星期一休息。",
        "thai": "ห้องสมุดเปิดเวลาเก้าโมงเช้า",
        "korean": "도서관은 아침 아홉 시에 문을 연다.",
        "japanese": "犬や猫は入れません。",
        "english": "The library opens at nine.",
    }
    add_all(connection, documents)
    make_worker().index_everything()

    questions = ["图书馆几点开门", "ห้องสมุดเปิดกี่โมง", "도서관이 언제 열려요?", "猫"]
    assert [lexical(connection, question)[0][0] for question in questions] == list(documents)[:4]


def test_a_corpus_without_a_language_gets_a_notice(connection: Connection) -> None:
    told: list[str | None] = []
    connection.add_notice_handler(lambda notice: told.append(notice.severity_nonlocalized))
    for language, severities in (("german", []), ("simple", ["NOTICE"])):
        options = json.dumps({"search_config": language})
        connection.execute("select pgclarify.create_corpus(%s, options => %s)", [language, options])
        assert told == severities


WIDE = {ord("０") + digit: str(digit) for digit in range(10)} | {ord("，"): ","}
