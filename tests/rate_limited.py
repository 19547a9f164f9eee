"""Limits of an endpoint: a minute's tokens and requests, enforced with 429 and headers, by a given clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.openai_server import Behavior, Chat, Reply, by_rules


@dataclass
class Limited:
    """The limits, and what was accepted and refused.

    Attributes:
        tokens: A minute's tokens, which replies are charged with as their usage says.
        requests: A minute's requests.
        is_window: Whether the limits are those of a fixed minute, as some gateways have them. Otherwise they fill up
            again steadily, as with OpenAI.
        has_headers: Whether answers have headers about the limits.
        share: The part that remains at the beginning.
        clock: Seconds.
    """

    tokens: int
    requests: int = 1_000_000
    is_window: bool = False
    has_headers: bool = True
    share: float = 1.0
    clock: Callable[[], float] = time.monotonic
    accepted: list[tuple[float, int]] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        self._limits = {"tokens": self.tokens, "requests": self.requests}
        self._left = {name: self.share * limit for name, limit in self._limits.items()}
        self._began = self._at = self.clock()

    def take(self, tokens: int) -> tuple[bool, Mapping[str, str]]:
        """Tell whether a request of so many tokens is accepted, and the headers of the answer."""
        now = self.clock()
        for name, limit in self._limits.items():
            if not self.is_window:
                self._left[name] = min(limit, self._left[name] + (now - self._at) * limit / 60)
            elif (now - self._began) // 60 > (self._at - self._began) // 60:
                self._left[name] = limit
        self._at = now
        needed = {"tokens": tokens, "requests": 1}
        is_accepted = all(self._left[name] >= amount for name, amount in needed.items())
        if is_accepted:
            self.accepted.append((now, tokens))
            for name, amount in needed.items():
                self._left[name] -= amount
        else:
            self.refused += 1
        headers = {} if is_accepted else {"Retry-After": f"{0.001 + max(map(self._wait, needed, needed.values())):.3f}"}
        if self.has_headers:
            for name, limit in self._limits.items():
                headers |= {
                    f"x-ratelimit-limit-{name}": str(limit),
                    f"x-ratelimit-remaining-{name}": str(int(self._left[name])),
                    f"x-ratelimit-reset-{name}": f"{1000 * self._wait(name, limit):.0f}ms",
                }
        return is_accepted, headers

    def _wait(self, name: str, amount: float) -> float:
        missing = amount - self._left[name]
        if missing <= 0:
            return 0.0
        return 60 - (self._at - self._began) % 60 if self.is_window else missing * 60 / self._limits[name]

    def used(self, since: float, until: float) -> float:
        """The tokens that were accepted in a time, as a share of the limit."""
        tokens = sum(tokens for at, tokens in self.accepted if since <= at < until)
        return tokens / (self.tokens * (until - since) / 60)

    def behavior(self, inner: Behavior = by_rules) -> Behavior:
        """A model behind these limits."""

        def reply(chat: Chat) -> Reply:
            answer = inner(chat)
            sent = sum(len(message["content"]) for message in chat.body["messages"]) // 4
            is_accepted, headers = self.take(sent + len(answer.content or "") // 4)
            if is_accepted:
                return Reply(answer.content, headers=headers)
            return Reply(status=429, body='{"error": {"message": "Rate limit reached"}}', headers=headers)

        return reply
