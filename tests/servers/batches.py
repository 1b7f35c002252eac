"""A scripted service of the OpenAI Batch API, which also answers chat requests at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from servers.chat import Act, Seen, completion, raw, status


class Service:
    """The files and batches of a service; `answer` makes the line for each request of a finished batch.

    Parameters
    ----------
    words
        What the model says to a prompt, given its last message.
    """

    def __init__(self, words: Callable[[str], str] = lambda prompt: '{"score": 7}') -> None:
        self.words = words
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.status = "completed"
        self.errors = None
        self.chat = 0
        self.uploads: list[list[dict]] = []

    def answer(self, asked: dict) -> dict | None:
        body = self.completion(asked["body"])
        return {"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": body}}

    def completion(self, body: dict) -> dict:
        """Return a completion that counts as many prompt tokens as any prompt here may have."""
        prompt = body["messages"][-1]["content"]
        usage = {"prompt_tokens": 2000, "completion_tokens": 7, "total_tokens": 2007}
        return completion(self.words(prompt), usage=usage)

    def __call__(self, seen: Seen) -> Act:
        path = seen.path.split("?")[0].removeprefix("/v1")
        if path == "/chat/completions":
            self.chat += 1
            return self.json(self.completion(seen.body))
        if path == "/files" and seen.method == "POST":
            content = re.search(rb'filename="[^"]*"\r\n(?:[^\r]*\r\n)*?\r\n(.*?)\r\n--', seen.raw, re.DOTALL)
            assert content is not None
            name = f"file-{len(self.files)}"
            self.files[name] = content.group(1)
            self.uploads.append([json.loads(line) for line in content.group(1).decode().split("\n") if line])
            return self.json({"id": name, "object": "file"})
        if path == "/batches" and seen.method == "POST":
            name = f"batch-{len(self.batches)}"
            self.batches[name] = {"id": name, "object": "batch", "status": "in_progress", **seen.body}
            return self.json(self.batches[name])
        if path == "/batches":
            return self.json({"object": "list", "data": list(self.batches.values()), "has_more": False})
        if path.startswith("/batches/"):
            return self.json(self.finished(self.batches[path.split("/")[2]]))
        if path.startswith("/files/"):
            return raw(self.files[path.split("/")[2]])
        return status(404)

    def finished(self, found: dict) -> dict:
        if self.status == "in_progress":
            return found
        lines = [json.loads(line) for line in self.files[found["input_file_id"]].decode().split("\n") if line]
        answers = [json.dumps(made) for line in lines if (made := self.answer(line))]
        self.files[f"out-{found['id']}"] = "\n".join(answers).encode()
        output = f"out-{found['id']}" if self.status == "completed" else None
        return {**found, "status": self.status, "output_file_id": output, "errors": self.errors}

    @staticmethod
    def json(document: dict) -> Act:
        return raw(json.dumps(document).encode())
