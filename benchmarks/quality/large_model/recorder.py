"""Shows one prompt at a time, and takes the reply that a large model writes to it.

python -m benchmarks.quality.large_model.recorder plan ASKED FOLDER DATA_DIR [--again N]
python -m benchmarks.quality.large_model.recorder next FOLDER/BATCH < REPLY
python -m benchmarks.quality.large_model.recorder join FOLDER OUT

`plan` writes batches of prompts. No batch has two prompts of one question, so the context in which its replies are
written has one passage of each question only. With --again, N questions are in a second set of batches, for a second
writer. DATA_DIR has questions of squad2 and MuSiQue, which are only relaxed. `next` reads the reply to the prompt that
it showed last (nothing the first time), stores it, and shows the next one. `join` writes all replies into one file.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.large_model.files import CALLS, FEW, Asked, hash_of, only_relaxed, read_asked, write_replies
from pgclarify.data.model_calls import ModelCall

_FIRST, _SECOND = "a", "b"
_SEED: Final = 4
_MANY_QUESTIONS: Final = 20
_RELAXING: Final = 3
"""Batches of relaxations."""


def plan(several: list[Asked], again: int, data_dir: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the prompts of each batch."""
    draw = random.Random(_SEED)  # noqa: S311
    shuffled = draw.sample(several, len(several))
    batches: dict[str, list[dict[str, Any]]] = {}
    for writer, asked in ((_FIRST, shuffled), (_SECOND, shuffled[:again])):
        for one in draw.sample(asked, len(asked)):
            places = draw.sample(range(FEW), FEW)
            calls = CALLS["verdict"](one.question, one.passages)
            for batch, place in enumerate(places[: len(calls)]):
                if place < len(calls):
                    batches.setdefault(f"verdict-{writer}{batch}", []).append(prompt_row(one, calls[place], writer))
        for way, most in (
            ("one_prompt", len(several)),
            ("rac", len(several)),
            ("joint_verdicts", len(several)),
            ("joint_verdicts_many", _MANY_QUESTIONS),
        ):
            for one in asked[:most]:
                for call in CALLS[way](one.question, one.passages):
                    batches.setdefault(f"{way}-{writer}", []).append(prompt_row(one, call, writer))
    relaxed = [*several, *(Asked("", question, (), (), ()) for question in only_relaxed(data_dir))]
    for place, one in enumerate(draw.sample(relaxed, len(relaxed))):
        (call,) = CALLS["relaxation"](one.question, ())
        batches.setdefault(f"relaxation-{_FIRST}{place % _RELAXING}", []).append(prompt_row(one, call, _FIRST))
    return batches


def prompt_row(one: Asked, call: ModelCall[Any], writer: str) -> dict[str, Any]:
    """Return a row of a batch.

    Args:
        one: The question.
        call: The prompt.
        writer: Who writes the reply.
    """
    messages = [{"role": each.role, "content": each.content} for each in call.messages]
    return {"asked": hash_of(call), "writer": writer, "question": one.question, "messages": messages}


def show_next(batch: Path, reply: str) -> str:
    """Store a reply to the prompt that was shown last, and return the next prompt."""
    prompts = [json.loads(line) for line in batch.read_text("utf-8").splitlines()]
    kept = batch.with_suffix(".replies")
    replies = kept.read_text("utf-8").splitlines() if kept.exists() else []
    shown = batch.with_suffix(".shown")
    is_shown = shown.exists()
    if is_shown:
        if not reply.strip():
            return "No reply came. Nothing is stored: give the reply to the prompt that was shown last."
        try:
            json.loads(reply)
        except ValueError as error:
            return f"That is no JSON object ({error}). Nothing is stored: give the reply again."
        with kept.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(reply.strip()) + "\n")
        replies.append(reply)
    if len(replies) == len(prompts):
        return f"All {len(prompts)} replies are stored. You are done."
    shown.touch()
    system, user = (one["content"] for one in prompts[len(replies)]["messages"])
    first = "" if is_shown else f"=== SYSTEM (the same for every prompt of this batch) ===\n{system}\n"
    return f"{first}=== PROMPT {len(replies) + 1} of {len(prompts)} ===\n{user}"


def join(folder: Path, out: Path) -> None:
    """Write all replies of the batches into one file."""
    found = {}
    for batch in sorted(folder.glob("*.prompts")):
        kept = batch.with_suffix(".replies")
        replies = kept.read_text("utf-8").splitlines() if kept.exists() else []
        for prompt, reply in zip(batch.read_text("utf-8").splitlines(), replies, strict=False):
            row = json.loads(prompt)
            found[row["asked"], row["writer"]] = json.loads(reply)
    write_replies(out, found)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["plan", "next", "join"])
    parser.add_argument("path", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("data_dir", type=Path, nargs="?")
    parser.add_argument("--again", type=int, default=20)
    given = parser.parse_args()
    if given.what == "plan":
        given.out.mkdir(parents=True)
        for name, prompts in plan(read_asked(given.path), given.again, given.data_dir).items():
            lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in prompts)
            (given.out / f"{name}.prompts").write_text(lines, "utf-8")
            print(f"{name}: {len(prompts)} prompts")
    elif given.what == "next":
        print(show_next(given.path, sys.stdin.read()))
    else:
        join(given.path, given.out)


if __name__ == "__main__":
    main()
