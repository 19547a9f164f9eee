"""Requests and tokens a minute of an endpoint: a worker books some time of each limit, and sends calls within it.

A limit is a timeline that all workers share, in the database: 60 calls a minute are a call each second. Booking a
second moves the time at which the endpoint is free. A worker books about a second at once. So there is about one
booking a second for any number of calls and workers, and a worker that dies loses no more than that.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from math import isfinite
from time import time
from typing import Final

from pgclarify.protocols import Booking, Rates

# The part of a limit that is used, and the seconds of it that are booked at once. With these and the half second that
# the database lets pass unused, no minute has more than the limit.
_SHARE: Final = 0.97
_SLICE_SECONDS: Final = 1.0
# What is left of a booking after this time is lost. Otherwise idle workers could send all they have at once.
_SLICE_LIFE_SECONDS: Final = 2.0
# An endpoint that says what remains may be sent more at once, down to a half of its limit, so that one question does
# not wait. What remains below an eighth is left for calls in flight, and for tokens that we count differently.
_KEPT_FROM_BURSTS: Final = 1 / 2
_RESERVE: Final = 1 / 8
# A limit that needs longer to be free again is one for a day, as Groq's limit of requests.
_LONGEST_RESET_SECONDS: Final = 61.0
# Longest booking. All workers wait for it, also if it comes from a wrong number of the endpoint, such as a limit of one
# token a minute. An endpoint takes no call that needs more than a minute's amount.
_LONGEST_BOOKING_SECONDS: Final = 60.0
# Longest time that a server's Retry-After stops all calls.
_LONGEST_BLOCK_SECONDS: Final = 60.0
# Tokens for each character of a request, with those of its reply, until replies show them; and the weight of a reply.
_FIRST_TOKENS_PER_CHARACTER: Final = 0.3
_WEIGHT: Final = 0.1

_DURATION: Final = re.compile(
    r"(?:(?P<h>[\d.]+)h)?(?:(?P<m>[\d.]+)m(?!s))?(?:(?P<s>[\d.]+)s)?(?:(?P<ms>[\d.]+)ms)?", re.ASCII
)
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(slots=True)
class Turn:
    """The turn of one call, which notes what the call took.

    Attributes:
        waited_seconds: How long the limits made it wait.
        tokens: The tokens of the request and its reply; None if the endpoint did not count them.
        tries: How many requests it took.
    """

    waited_seconds: float = 0.0
    tokens: int | None = None
    tries: int = 1


@dataclass(slots=True)
class _Limit:
    """One limit, as this worker knows it.

    Attributes:
        setting: A minute's amount by the settings; None if they have none.
        reported: A minute's amount as the endpoint reported it; None if it did not.
        unspent: What this worker has booked and not sent; negative if calls took more than was booked for them.
        remaining: What the endpoint said last that it still accepts, and when; None if it did not say.
    """

    setting: int | None
    reported: float | None = None
    unspent: float = 0.0
    remaining: tuple[float, float] | None = None

    @property
    def a_minute(self) -> float | None:
        return min((limit for limit in (self.setting, self.reported) if limit), default=None)

    def booking(self, amount: float, now: float) -> Booking:
        """Make the booking for a call that needs this amount, and count it as booked."""
        if not (a_minute := self.a_minute):
            return Booking()
        missing, rate = amount - self.unspent, _SHARE * a_minute / 60
        booked = max(missing, rate * _SLICE_SECONDS) if missing > 0 else 0.0
        self.unspent += booked
        seconds = min(booked / rate, _LONGEST_BOOKING_SECONDS)
        if self.remaining is None:
            return Booking(seconds)
        reported, at = self.remaining
        remaining = min(reported + (now - at) * a_minute / 60, a_minute)
        accepted, spare = ((remaining - part * a_minute) / rate for part in (_RESERVE, _KEPT_FROM_BURSTS))
        # A setting below the endpoint's own limit is a share of it, and what remains is not all ours.
        has_spare = spare > 0 and a_minute == self.reported
        return Booking(seconds, accepted, spare if has_spare else None)

    def learn(self, limit: float | None, remaining: float | None, reset: float | None, now: float) -> None:
        """Learn from the headers of an answer."""
        if limit is not None:
            is_new = self.reported is None
            self.reported = limit if limit > 0 and (reset or 0) <= _LONGEST_RESET_SECONDS else None
            if is_new and self.reported:
                # Of the calls before, some are in flight. All others count no longer.
                self.unspent = max(self.unspent, -_RESERVE * self.reported)
        if remaining is not None and (reset or 0) <= _LONGEST_RESET_SECONDS:
            self.remaining = (remaining, now)


class RateLimit:
    """The limits of one endpoint, by the settings or by its answers. Calls take them one after the other.

    Args:
        endpoint: The name under which workers share them.
        rates: What all workers have booked; None for an endpoint without limits.
        requests_per_minute: The setting; None to learn it from the endpoint's answers.
        tokens_per_minute: Likewise.
    """

    def __init__(
        self,
        endpoint: str,
        rates: Rates | None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._rates = rates
        self._requests = _Limit(requests_per_minute)
        self._tokens = _Limit(tokens_per_minute)
        self._tokens_per_character = _FIRST_TOKENS_PER_CHARACTER
        # By the clock of the event loop: when calls may go on, and when the rest of the last booking is lost.
        self._starts_at = self._blocked_until = self._ends_at = 0.0

    async def take(self, turn: Turn, size: int) -> float:
        """Wait until a call may be sent.

        Args:
            turn: Notes how long it waited.
            size: Characters of the request.

        Returns:
            How many tokens were reserved for it.
        """
        clock = asyncio.get_running_loop().time
        tokens = size * self._tokens_per_character
        if self._rates is None:
            return tokens
        began = now = clock()
        if now > self._ends_at:
            for limit in (self._requests, self._tokens):
                limit.unspent = min(limit.unspent, 0.0)
        if (self._requests.a_minute and self._requests.unspent < 1) or (
            self._tokens.a_minute and self._tokens.unspent < tokens
        ):
            requested, wanted = self._requests.booking(1, now), self._tokens.booking(tokens, now)
            if self._blocked_until > now:
                requested = Booking(requested.seconds, now - self._blocked_until)
            wait = await self._rates.book(self._endpoint, requested, wanted)
            self._starts_at = clock() + wait
            self._ends_at = max(clock(), self._starts_at) + _SLICE_LIFE_SECONDS
        await asyncio.sleep(self._starts_at - clock())
        # A refusal of a call in flight may have come meanwhile.
        await asyncio.sleep(self._blocked_until - clock())
        turn.waited_seconds = clock() - began
        self._requests.unspent -= 1
        self._tokens.unspent -= tokens
        return tokens

    def settle(self, turn: Turn, size: int, reserved: float) -> None:
        """Correct what was reserved for a call by what it took."""
        self.count(turn.tokens, turn.tries, reserved)
        if turn.tokens is not None and size:
            self._tokens_per_character += _WEIGHT * (turn.tokens / size - self._tokens_per_character)

    def count(self, tokens: int | None, tries: int, reserved: float = 0.0) -> None:
        """Count what a call took beyond one request and the tokens that were reserved; None if they are unknown."""
        self._requests.unspent -= tries - 1
        if tokens is not None:
            self._tokens.unspent += reserved - tokens

    def learn(self, headers: Mapping[str, str], wait: float | None = None) -> None:
        """Learn from an answer: x-ratelimit-limit-*, x-ratelimit-remaining-*, x-ratelimit-reset-*, retry-after.

        Args:
            headers: Its headers.
            wait: Seconds that a refusal for its rate asks to wait; None for any other answer.
        """
        now = asyncio.get_running_loop().time()
        for name, limit in (("requests", self._requests), ("tokens", self._tokens)):
            reported, remaining = (
                _number(headers.get(f"x-ratelimit-{kind}-{name}", "")) for kind in ("limit", "remaining")
            )
            limit.learn(reported, remaining, _seconds(headers.get(f"x-ratelimit-reset-{name}", "")), now)
        if wait is not None and wait > 0:
            self._blocked_until = max(self._blocked_until, now + min(wait, _LONGEST_BLOCK_SECONDS))


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, from a number or a date; None if it sends neither."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if isfinite(seconds) else None
    try:
        date = parsedate_tz(headers.get("retry-after", ""))
        return None if date is None else mktime_tz(date) - time()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _number(text: str) -> float | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _seconds(text: str) -> float | None:
    """Read a duration such as 6m0s, 120ms or 2.5; None if it is none."""
    text = text.strip()
    # Some servers leave out the unit of seconds.
    parts = _DURATION.fullmatch(text if text[-1:].isalpha() else f"{text}s")
    if not text or parts is None:
        return None
    try:
        return sum(float(parts[unit] or 0) * seconds for unit, seconds in _UNITS.items())
    except ValueError:
        return None
