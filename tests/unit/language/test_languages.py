"""A text counts as being in another language than English only if that is clear."""

from __future__ import annotations

import pytest

from pgclarify.language.languages import is_foreign
from tests.languages import CORPORA, Corpus
from tests.quality.passages import CHAINS, PASSAGES, QUESTIONS


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_texts_and_questions_of_other_languages_are_known(corpus: Corpus) -> None:
    texts = [one.content for one in corpus.documents] + [one.question for one in corpus.questions]
    assert [text for text in texts if not is_foreign(text)] == []


def test_english_texts_and_questions_are_not_taken_for_others() -> None:
    texts = [text for _, text in PASSAGES.values()] + [one.question for one in QUESTIONS] + [one for one, _ in CHAINS]
    assert [text for text in texts if is_foreign(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "in die hard",
        "What do ten to ten pod limits do?",
        "How to do a pale ale, or an ale to order",
        "w and z bosons",
        "world war ii in color",
        "who is in Das Boot",
        "Charles de Gaulle airport",
        "Beyoncé café",
        "How do you ask wo ist der Bahnhof in Berlin?",
        "What is meant by c'est la vie?",
        "東京 tower opening hours",
        "Man in war",
        "Who sang Je ne regrette rien?",
        "cast of Como agua para chocolate",
        # A name or a noun alone does not show a language.
        "Bibliothek",
    ],
)
def test_a_few_words_names_and_foreign_titles_pass_for_english(text: str) -> None:
    assert not is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wie alt ist sie?",
        "Combien coûte l'abonnement ?",
        "¿Cuánto cuesta?",
        "Ile kosztuje karta?",
        "Quanto costa la tessera?",
        "Quanto custa o cartão para estudantes?",
        "Is het gratis of kost het geld?",
        "Wo ist das Konzert von The Who?",
        "Vad kostar det att låna en bok?",
        "料金",
        "도서관은 몇 시에 열어요?",
        "Когда открывается библиотека?",
    ],
)
def test_short_questions_of_other_languages_are_known(text: str) -> None:
    assert is_foreign(text)
