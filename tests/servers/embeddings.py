"""A server of the embeddings protocol on 127.0.0.1, with ``/tokenize`` like vLLM's where it is told to.

A token is a word; a text over the context is refused as real servers do. Vectors are made by the function given.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str], Sequence[float]]


class EmbeddingServer:
    """Use as a context manager; ``url`` is the base URL, ``calls`` the texts of every call as they came.

    Parameters
    ----------
    answer
        Vector of a text.
    context
        Words a text may have, one special token included; 0 = any number and no ``/tokenize``.
    change
        Gets the reply of an embeddings call and may spoil it.
    status
        Status of the n-th embeddings call, counted from 1; None = 200.
    """

    def __init__(
        self,
        answer: Answer,
        context: int = 0,
        change: Callable[[dict[str, Any]], Any] = lambda reply: reply,
        status: Callable[[int], int | None] = lambda number: None,
    ) -> None:
        self.calls: list[list[str]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        owner, words, lock = self, [], threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, reply = 200, None
                with lock:
                    if self.path.split("?")[0].endswith("/embeddings"):
                        owner.calls.append(body["input"])
                        owner.bodies.append(body)
                        owner.headers.append({name.lower(): value for name, value in self.headers.items()})
                        status = status_of(len(owner.calls)) or 200
                        if context and any(len(text.split()) + 1 > context for text in body["input"]):
                            status = 400
                        if status == 200:
                            data = [
                                {"object": "embedding", "index": at, "embedding": list(answer(text))}
                                for at, text in enumerate(body["input"])
                            ]
                            reply = change({"object": "list", "model": body["model"], "data": data, "usage": {}})
                        else:
                            reply = {"error": {"message": f"refused, key {self.headers['Authorization']}"}}
                    elif context and self.path == "/tokenize":
                        found = body["prompt"].split()
                        words.extend(word for word in found if word not in words)
                        ids = [1000] * bool(body["add_special_tokens"]) + [words.index(word) for word in found]
                        reply = {"tokens": ids, "count": len(ids), "max_model_len": context}
                    elif context and self.path == "/detokenize":
                        reply = {"prompt": " ".join(words[token] for token in body["tokens"])}
                    else:
                        status, reply = 404, {"error": {"message": "no such address"}}
                sent = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                if status >= 500:
                    self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(sent)

        status_of = status
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> EmbeddingServer:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def texts(self) -> list[str]:
        """Every text asked for, in order of arrival."""
        return [text for call in self.calls for text in call]
