"""The addresses of the page, and what they do."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from pgclarify.client.result_records import Estimate
from pgclarify.errors import (
    CallCancelled,
    DatabaseBusy,
    InputError,
    NotFound,
    NotReady,
    PermissionDenied,
    PgclarifyError,
    RunFailed,
    RunTimeout,
    ServerUnavailable,
)
from pgclarify.page.forms import Question, Rating, Shown, fields
from pgclarify.page.gate import App, Doors, Gate, Refused
from pgclarify.page.reading import read_pane, read_progress, read_run, read_surroundings
from pgclarify.page.sessions import Sessions
from pgclarify.page.showing import Page
from pgclarify.reports.pages import static_file

# The first that fits counts.
_STATUSES: Final = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (InputError, HTTPStatus.BAD_REQUEST),
    (PermissionDenied, HTTPStatus.FORBIDDEN),
    (NotReady, HTTPStatus.CONFLICT),
    (RunFailed, HTTPStatus.CONFLICT),
    (ServerUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (DatabaseBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    # Only our own limit cancels a statement here.
    (CallCancelled, HTTPStatus.SERVICE_UNAVAILABLE),
)
# What a person writes is not kept by caches, and another person at the same browser does not see it.
_NOT_KEPT: Final = {"cache-control": "no-store"}
_ESTIMATE_SECONDS: Final = 15.0
_LOOK_SECONDS: Final = 0.1


class Application:
    """Answers requests.

    Args:
        sessions: The database.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def home(self, request: Request) -> Response:
        """Show the form, with the question that the address may have."""
        form = Question.of(request.query_params)
        async with self._sessions.reading(_role(request)) as session:
            return _shown(Page(await read_surroundings(session, form)))

    async def ask(self, request: Request) -> Response:
        """Submit a question, and lead to its run."""
        form = Question.of(await _form(request))
        async with self._sessions.writing(_role(request)) as session:
            turns = form.turns()
            history: dict[str, Any] = {"history": turns} if turns else {}
            run_id = await session.client.submit("clarify", form.question, **form.arguments(), **history)
        return _to(f"/run/{run_id}")

    async def estimate(self, request: Request) -> Response:
        """Show the form with what its question would cost."""
        role, form = _role(request), Question.of(await _form(request))
        estimate: Estimate | None = None
        error: PgclarifyError | None = None
        try:
            estimate = await self._estimate(role, form)
        except PgclarifyError as refused:
            error = refused
        async with self._sessions.reading(role) as session:
            around = await read_surroundings(session, form)
        page = Page(around, estimate=estimate, estimate_error=error)
        return _shown(page, part="live/estimate.html" if "part" in request.query_params else "")

    async def _estimate(self, role: str | None, form: Question) -> Estimate:
        async with self._sessions.writing(role) as session:
            run_id = await session.client.submit("estimate", questions=[form.question], **form.arguments())
        deadline = time.monotonic() + _ESTIMATE_SECONDS
        while time.monotonic() < deadline:
            async with self._sessions.reading(role) as session:
                if (await read_progress(session, run_id))["is_over"]:
                    found: Estimate = (await session.client.result(run_id))[0]
                    return found
            # No connection is held meanwhile.
            await asyncio.sleep(_LOOK_SECONDS)
        raise RunTimeout("there is no estimate yet", hint="Try again, or ask.", run_ids=[run_id])

    async def run(self, request: Request) -> Response:
        """Show a run, with a document beside it if the address names one; or one of these parts alone."""
        run_id, shown = _run_id(request), Shown.of(request.query_params)
        part = request.query_params.get("part")
        async with self._sessions.reading(_role(request)) as session:
            if part == "document" and shown is not None:
                pane = await read_pane(session, run_id, shown)
                return _shown(Page(pane=pane, run_id=run_id), part="live/document.html")
            if part == "progress":
                progress = await read_progress(session, run_id)
                if progress["is_over"]:
                    return Response(status_code=HTTPStatus.NO_CONTENT, headers=_NOT_KEPT)
                return _shown(Page(progress=progress, run_id=run_id), part="live/progress.html")
            seen = await read_run(session, run_id)
            page = Page(
                seen=seen,
                pane=None if shown is None else await read_pane(session, run_id, shown),
                progress=None if seen.report.head.finished_at else await read_progress(session, run_id),
                run_id=run_id,
                around=await read_surroundings(session, _asked(seen.report.head)),
            )
            return _shown(page)

    async def cancel(self, request: Request) -> Response:
        """Cancel a run."""
        run_id = _run_id(request)
        async with self._sessions.writing(_role(request)) as session:
            await session.client.cancel([run_id])
        return _to(f"/run/{run_id}")

    async def feedback(self, request: Request) -> Response:
        """Keep what a person says of a run."""
        run_id, given = _run_id(request), await _form(request)
        said = Rating.of(given)
        async with self._sessions.writing(_role(request)) as session:
            await session.rows(
                "page_give_feedback",
                run_id=run_id,
                ordinal=said.ordinal,
                rating=said.rating,
                comment=said.comment,
                missing=said.missing,
            )
        back = Shown.of(dict([given.get("back", "").partition("=")[::2]]))
        beside = "" if back is None else f"?{back.address}"
        return _to(f"/run/{run_id}{beside}#{'found' if said.ordinal is None else f'finding-{said.ordinal}'}")

    async def failed(self, request: Request, error: Exception) -> Response:
        """Show an error of ours, and as much of the page as can be read."""
        assert isinstance(error, PgclarifyError)  # noqa: S101 - it is registered for these
        status = next((code for kind, code in _STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
        around = None
        try:
            form = Question.of(await _form(request)) if request.method == "POST" else Question()
            async with self._sessions.reading(_role(request)) as session:
                around = await read_surroundings(session, form)
        except PgclarifyError:
            # Then the error stands alone.
            pass
        return _shown(Page(around, error=error), status=status)


def application(sessions: Sessions, doors: Doors) -> App:
    """Return the page as an application of ASGI, behind its gate.

    Args:
        sessions: The database.
        doors: Who may reach it.
    """
    page = Application(sessions)

    async def broken(_request: Request, _error: Exception) -> Response:
        told = PgclarifyError("the page failed", hint="Where pgclarify ui runs, it has said why.")
        return _shown(Page(error=told), status=HTTPStatus.INTERNAL_SERVER_ERROR)

    async def no_page(_request: Request, _error: Exception) -> Response:
        return _shown(Page(error=NotFound("there is no such page")), status=HTTPStatus.NOT_FOUND)

    app = Starlette(
        routes=[
            Route("/", page.home),
            Route("/ask", page.ask, methods=["POST"]),
            Route("/estimate", page.estimate, methods=["POST"]),
            Route("/run/{run_id}", page.run),
            Route("/run/{run_id}/cancel", page.cancel, methods=["POST"]),
            Route("/run/{run_id}/feedback", page.feedback, methods=["POST"]),
            Route("/static/{name}", _static),
        ],
        exception_handlers={
            PgclarifyError: page.failed,
            Refused: _refused,
            Exception: broken,
            HTTPStatus.NOT_FOUND: no_page,
            HTTPStatus.METHOD_NOT_ALLOWED: no_page,
        },
    )
    # Redirects would name the scheme between the proxy and us.
    app.router.redirect_slashes = False
    return Gate(app, doors)


async def _refused(_request: Request, error: Exception) -> Response:
    """Answer as the gate does."""
    assert isinstance(error, Refused)  # noqa: S101
    return PlainTextResponse(f"{error.why}\n", status_code=error.status)


async def _static(request: Request) -> Response:
    """Answer with style, script or icon."""
    name = request.path_params["name"]
    if name not in _STATIC:
        raise NotFound("there is no such file")
    body, etag = _file(name)
    headers = {"etag": etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type=_STATIC[name], headers=headers)


_STATIC: Final = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}


@cache
def _file(name: str) -> tuple[str, str]:
    """Return a file of ours, and what a browser compares. The page adds to what reports have."""
    own = files("pgclarify.page").joinpath("static", name).read_text(encoding="utf-8")
    body = own if name == "icon.svg" else static_file(name) + own
    return body, f'"{hashlib.sha256(body.encode()).hexdigest()[:16]}"'


def _role(request: Request) -> str | None:
    """Return the role of the person, as the gate has found it."""
    role: str | None = request.scope["state"]["role"]
    return role


def _run_id(request: Request) -> int:
    found = request.path_params["run_id"]
    if not (found.isascii() and found.isdigit() and len(found) <= 18):
        raise NotFound("there is no such page")
    return int(found)


async def _form(request: Request) -> Mapping[str, str]:
    return fields(await request.body())


def _asked(head: Any) -> Question:  # noqa: ANN401
    """Return the question of a run as it stands in the form."""
    given = head.history if isinstance(head.history, list) else []
    return Question(
        head.question,
        head.corpus or "",
        "" if head.filter is None else json.dumps(head.filter, ensure_ascii=False),
        "\n".join(str(turn) for turn in given),
    )


def _shown(page: Page, *, part: str = "", status: int = HTTPStatus.OK) -> Response:
    return HTMLResponse(page.render(part), status_code=status, headers=_NOT_KEPT)


def _to(address: str) -> Response:
    return RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER, headers=_NOT_KEPT)
