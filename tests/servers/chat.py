"""A scripted server of the OpenAI chat protocol on 127.0.0.1, which misbehaves as it is told.

A script is a function of what was seen that returns what to do. In a test::

    with ChatServer(lambda seen: busy(retry_after="1") if seen.times == 1 else reply("fine")) as server:
        ...  # server.url, server.seen

From a shell, for benchmarks: ``python -m tests.servers.chat`` prints its URL and answers at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Seen:
    """One request as it arrived.

    ``number`` counts all requests from 1; ``times`` counts this body's arrivals from 1.
    """

    number: int
    times: int
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)

    @property
    def prompt(self) -> str:
        return self.body["messages"][-1]["content"]


@dataclass(frozen=True)
class Act:
    """What the server does: answer after `delay`, stop after `cut` bytes and close, or never answer."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    hang: bool = False


Script = Callable[[Seen], Act]


def completion(text: str | None, **changes: Any) -> dict[str, Any]:
    """Return the body of a good completion; `changes` replace finish_reason, model, usage, refusal, ..."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if "refusal" in changes:
        message["refusal"] = changes.pop("refusal")
    choice = {"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-1",
        "choices": [choice],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        **changes,
    }


def reply(text: str | None, delay: float = 0.0, **changes: Any) -> Act:
    """Answer with a completion."""
    return Act(content=json.dumps(completion(text, **changes)).encode(), delay=delay)


def status(code: int, message: str = "no", headers: dict[str, str] | None = None, **error: Any) -> Act:
    """Answer with an error in the protocol's form."""
    content = json.dumps({"error": {"message": message, "type": "t", **error}}).encode()
    return Act(status=code, content=content, headers=headers or {})


def busy(retry_after: str | None = None) -> Act:
    """Answer 429, with or without Retry-After."""
    return status(429, "slow down", {} if retry_after is None else {"retry-after": retry_after})


def raw(content: bytes, **changes: Any) -> Act:
    """Answer 200 with these bytes as the body."""
    return Act(content=content, **changes)


def hang() -> Act:
    """Take the request and never answer."""
    return Act(hang=True)


def drop(after: int = 0) -> Act:
    """Send `after` bytes of a good answer's body (none: not even headers) and close the connection."""
    return Act(content=json.dumps(completion("a reply that never arrives whole")).encode(), cut=after)


class ChatServer:
    """The server, in a thread of its own; a context manager."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self._at_once = 0
        self._times: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def prompts(self) -> list[str]:
        return [seen.prompt for seen in self.seen if seen.path.endswith("/chat/completions")]

    def __enter__(self) -> ChatServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stopped = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopped.wait()
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
        }
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        print_of = hashlib.sha256(content).hexdigest()
        self._times[print_of] += 1
        seen = Seen(len(self.seen) + 1, self._times[print_of], method, path, headers, content, self._loop.time())
        self.seen.append(seen)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._act(self.script(seen), reader, writer)
        finally:
            self._at_once -= 1

    async def _act(self, act: Act, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if act.hang:
            await reader.read()  # until the client goes away
            return False
        if act.delay:
            await asyncio.sleep(act.delay)
        if act.cut == 0:
            return False
        lines = [f"HTTP/1.1 {act.status} X", f"content-length: {len(act.content)}"]
        headers = {"content-type": "application/json", **act.headers}
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + act.content[: act.cut])
        await writer.drain()
        return act.cut is None


async def _forever(script: Script, announce: Callable[[str], Awaitable[None] | None]) -> None:
    server = ChatServer(script)
    server._loop = asyncio.get_running_loop()
    server.seen = _Forgetful()
    serving = asyncio.create_task(server._serve())
    while not server._ready.is_set():
        await asyncio.sleep(0.01)
    announce(server.url)
    await serving


class _Forgetful(list):  # type: ignore[type-arg]
    """Counts without keeping, so that a benchmark's server does not grow."""

    count_seen = 0

    def append(self, item: object) -> None:
        self.count_seen += 1

    def __len__(self) -> int:
        return self.count_seen


if __name__ == "__main__":
    _ANSWER = reply('{"score": 50}', usage={"prompt_tokens": 1000, "completion_tokens": 7})
    asyncio.run(_forever(lambda _: _ANSWER, lambda url: print(url, flush=True)))
