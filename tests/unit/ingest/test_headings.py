from __future__ import annotations

import pytest

from pgclarify.ingest.headings import HeadingPaths, find_headings


def found(content: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in find_headings(content)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("# One\ntext", [(1, "One")]),
        ("text\n  ### Three ###", [(3, "Three")]),
        ("One\n===\n\nTwo\n---\n", [(1, "One"), (2, "Two")]),
        ("# **Bold** [link](target) `code`", [(1, "Bold link code")]),
        ("text\n\n1. One.\n-------\n\n2. Two\r\n======\r\ntext", [(2, "1. One."), (1, "2. Two")]),
        ("1. an item\n---\n\n    1. code\n    -------\n", []),
        ("#hashtag\n####### seven\n    # code\n#\n", []),
        ("```\n# code\n```\n~~~~\n# code\n~~~\n# code\n~~~~\n# After", [(1, "After")]),
        ("> # quoted\n\n- # listed\n", []),
        ("---\ntitle: Front\n---\n\n# Body", [(1, "Body")]),
        ("---\n\ntext\n\n---\n", []),
    ],
)
def test_finds_headings(content: str, expected: list[tuple[int, str]]) -> None:
    assert found(content) == expected


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_offsets_count_characters_whatever_ends_a_line(line_end: str) -> None:
    content = line_end.join(["é😀", "", "# Ünder", "text", "", "Zwei", "===", "text"])
    headings = find_headings(content)
    assert [content[heading.start_char : heading.end_char].strip() for heading in headings] == [
        "# Ünder",
        f"Zwei{line_end}===",
    ]


def test_paths_follow_levels() -> None:
    content = "intro\n# A\n## B\n#### C\n## D\n# E\n"
    paths = HeadingPaths(find_headings(content))
    at = {line: paths.at(content.index(line)) for line in content.splitlines()}
    assert at == {
        "intro": None,
        "# A": "A",
        "## B": "A > B",
        "#### C": "A > B > C",
        "## D": "A > D",
        "# E": "E",
    }
