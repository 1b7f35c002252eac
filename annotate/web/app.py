"""The application behind the page: five routes that speak JSON, and the front end's files."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from annotate.web.guard import Guard
from annotate.web.judgments import CHOICES, HumanJudgments, Task, instructions
from annotate.web.names import checked_name, known_spelling
from annotate.web.workbench import TaskList, Text, Workbench
from warehouse.errors import SaberError

STATIC = Path(str(resources.files("annotate.web").joinpath("static")))
MOST_BYTES = 4096


def make_app(
    workbench: Workbench, judgments: HumanJudgments, token: str, port: int, annotator: str | None = None
) -> Guard:
    """Return the guarded application.

    Parameters
    ----------
    workbench
        The task lists.
    judgments
        Where verdicts are read and landed.
    token
        Token that every request must carry.
    port
        Port served.
    annotator
        The only person who may judge; None lets people choose names on the page.
    """
    api = _Api(workbench, judgments, annotator)
    routes = [
        Route("/", _page),
        Route("/api/session", api.session),
        Route("/api/tasks", api.tasks),
        Route("/api/tasks/{task_id}", api.texts, methods=["GET"]),
        Route("/api/tasks/{task_id}", api.judge, methods=["PUT"]),
        Route("/api/tasks/{task_id}", api.remove, methods=["DELETE"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, port)


async def _page(_: Request) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code)


def _user_errors(handler: Callable[[Any, Request], Awaitable[Response]]) -> Any:
    """Answer a ``SaberError`` with its sentence, so that the page can show it."""

    @functools.wraps(handler)
    async def guarded(self: Any, request: Request) -> Response:
        try:
            return await handler(self, request)
        except SaberError as error:
            return JSONResponse({"error": str(error)}, status_code=400)

    return guarded


class _Api:
    def __init__(self, workbench: Workbench, judgments: HumanJudgments, annotator: str | None) -> None:
        self._workbench = workbench
        self._judgments = judgments
        self._only = annotator

    @_user_errors
    async def session(self, _: Request) -> Response:
        known = await run_in_threadpool(self._judgments.by_annotator)
        return JSONResponse(
            {
                "annotator": self._only,
                "known": [self._only] if self._only else sorted(known),
                "benchmark": self._judgments.benchmark,
                "instructions": instructions(),
                "version": version("saber-warehouse"),
            }
        )

    @_user_errors
    async def tasks(self, request: Request) -> Response:
        """List the annotator's tasks with the verdicts landed so far."""
        name = self._name(request.query_params.get("annotator"))
        return JSONResponse(await run_in_threadpool(self._list, name))

    def _list(self, name: str) -> dict[str, Any]:
        everyone = self._judgments.by_annotator()
        name = known_spelling(name, [*everyone, *self._workbench.annotators])
        judged = everyone.get(name, {})
        shown = []
        for task in self._workbench.task_list(name, judged).tasks.values():
            done = judged.get(task.pair)
            # A verdict about older texts does not finish the task: it asks again.
            current = done is not None and done.content_hash == task.content_hash
            shown.append({"id": task.task_id, "verdict": done.verdict if done and current else None})
        return {"annotator": name, "tasks": shown}

    @_user_errors
    async def texts(self, request: Request) -> Response:
        """Return the texts of a task; ids and sources stay out, since they could sway a judgment."""
        task, tasks = self._task(request, request.query_params.get("annotator"))
        return JSONResponse(
            {
                "target": _shown(tasks.texts[task.query_id]),
                "first": _shown(tasks.texts[task.first_id]),
                "second": _shown(tasks.texts[task.second_id]),
            }
        )

    @_user_errors
    async def judge(self, request: Request) -> Response:
        given = await _json(request)
        verdict = given.get("verdict")
        if verdict not in CHOICES:
            raise HTTPException(400, f"The verdict must be one of {', '.join(CHOICES)}.")
        task, _ = self._task(request, given.get("annotator"))
        await run_in_threadpool(self._judgments.land, self._spelling(given.get("annotator")), task, verdict)
        return JSONResponse({"id": task.task_id, "verdict": verdict})

    @_user_errors
    async def remove(self, request: Request) -> Response:
        name = request.query_params.get("annotator")
        task, _ = self._task(request, name)
        await run_in_threadpool(self._judgments.remove, self._spelling(name), task)
        return JSONResponse({"id": task.task_id, "verdict": None})

    def _name(self, given: Any) -> str:
        name = checked_name(given)
        if self._only is not None and name.casefold() != self._only.casefold():
            raise HTTPException(403, f"This page was started for {self._only} alone.")
        return name

    def _spelling(self, given: Any) -> str:
        return known_spelling(self._name(given), self._workbench.annotators)

    def _task(self, request: Request, annotator: Any) -> tuple[Task, TaskList]:
        tasks = self._workbench.existing(self._spelling(annotator))
        task = tasks.tasks.get(request.path_params["task_id"]) if tasks else None
        if tasks is None or task is None:
            raise HTTPException(404, "This task is not in your list, or its texts have changed. Reload the page.")
        return task, tasks


def _shown(text: Text) -> dict[str, str]:
    return {"statement": text.statement, "solution": text.solution}


async def _json(request: Request) -> dict[str, Any]:
    """Read a small JSON object, and no more of a large body than shows that it is large."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "The body must be JSON.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"The body must be at most {MOST_BYTES} bytes long.")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "The body must be JSON.") from error
    if not isinstance(given, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    return given
