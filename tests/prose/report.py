"""Where prose is hard to read: `make prose`. A report, no test.

For each folder: the number of sentences, their mean length, how many have more than 30 words, and how many phrases make
a reader read twice. Then the worst sentences: those with the most such phrases, and the longest.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import Counter
from pathlib import Path, PurePath

from tests.prose.texts import texts

ROOT = Path(__file__).parents[2]
LONG = 30
PHRASES = (
    r"whoever|whatever|whichever|wherever",
    r"nobody|no one|anybody|somebody|everybody",
    r"told from|tells? apart|told apart",
    r"what (?:it|that|this|they) takes?",
    r"as far as|in the place of|in place of",
    r"so that [^.]{3,80} not",
    r"for ever|nothing but|no (?:\w+ )?of (?:ours|theirs|its|their) own",
    r"such as? (?:that|those)|so (?:many|much|long) (?:\w+ )?(?:that|at)",
    r"or (?:it|they) would|else (?:it|they) would|lest",
    r"hears?|heard of|lands?|landed|hands? (?:over|out|it)|hold up",
    r"is for|are for|comes? to|came to|goes for|is no (?!longer|more)\w+",
    r"^(?:of|to|for|with|by|after|before|in|among) (?:a|the|those|that|what|one|two)\b[^,.]*, ",
)
_PHRASE = re.compile("|".join(rf"(?:{'' if one[0] == '^' else chr(92) + 'b'}{one})" for one in PHRASES), re.IGNORECASE)
# Ends of sentences; sections of docstrings, items and lines of code end one, too.
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(])|\n\s*\n|\n\s*(?=\w+ ?(?:\([^)\n]*\))?: )|:\n|\n *[│├└]")


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [
        sentence for sentence in (" ".join(part.split()) for part in _END.split(text)) if re.search(r"\w", sentence)
    ]


def badness(sentence: str) -> int:
    """How hard a sentence is: ten for each phrase, and one for each word that is too many."""
    return 10 * len(_PHRASE.findall(sentence)) + max(len(sentence.split()) - LONG, 0)


def main() -> None:
    """Write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=["."], help="folders or files (default: all)")
    parser.add_argument("--worst", type=int, default=40, metavar="N", help="show so many texts (default: 40)")
    arguments = parser.parse_args()
    listed = subprocess.run(
        ["git", "ls-files", "-z", *arguments.paths], cwd=ROOT, check=True, capture_output=True, text=True
    )
    counts: dict[str, Counter[str]] = {}
    worst = list[tuple[int, str]]()
    for path in listed.stdout.split("\0"):
        if PurePath(path).suffix not in (".py", ".sql", ".md"):
            continue
        count = counts.setdefault("/".join(PurePath(path).parts[:-1][:2]) or ".", Counter())
        for line, text in texts(path, (ROOT / path).read_text(encoding="utf-8")).read:
            for sentence in sentences(text):
                words = len(sentence.split())
                count.update(sentences=1, words=words, long=words > LONG, phrases=len(_PHRASE.findall(sentence)))
                worst.append((badness(sentence), f"{path}:{line}: {sentence}"))
    print(f"{'folder':34}{'sentences':>10}{'words each':>12}{'long':>8}{'phrases':>9}")
    for folder, count in sorted(counts.items()):
        each = count["words"] / max(count["sentences"], 1)
        print(f"{folder:34}{count['sentences']:10}{each:12.1f}{count['long']:8}{count['phrases']:9}")
    for points, found in sorted(worst, key=lambda one: -one[0])[: arguments.worst]:
        print(f"{points:4} {found}")


if __name__ == "__main__":
    main()
