"""A job killed again and again ends with the tables of an undisturbed run, and pays for no reply twice.

2,000 calls and 20 kills; for a quick look ``SABER_CALLS=200 SABER_KILLS=3 pytest tests/test_calls_killed.py``.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import time
from pathlib import Path

from servers.chat import Act, ChatServer, Seen, reply, status
from servers.job import CONCURRENCY, run_job

from annotate.calls.compaction import journal_folder
from annotate.calls.journal import JournalReader
from annotate.calls.record import decode
from warehouse.landing import Landing

CALLS = int(os.environ.get("SABER_CALLS", "2000"))
KILLS = int(os.environ.get("SABER_KILLS", "20"))


def script(seen: Seen) -> Act:
    number = int(seen.prompt.split()[1])
    if number % 20 == 7 and seen.times == 1:
        return status(500)
    return reply(f"answer to {number}", delay=0.002)


def good(landing: Landing) -> dict[str, tuple]:
    """Return what has landed or is in a journal: {prompt: (call id, reply)} of usable replies."""
    found = landing.read("llm_calls", latest=False).to_pylist()
    for path in journal_folder(landing).glob("*.journal"):
        found += [decode(payload) for _, payload in JournalReader(path)]
    return {
        json.loads(row["request"])["messages"][0]["content"]: (row["call_id"], row["reply"], row["served_model"])
        for row in found
        if row["error"] is None
    }


def test_a_killed_job_ends_like_an_undisturbed_one(tmp_path: Path):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["servers.job", "openai.resources.chat.completions", "httpx"])
    draw = random.Random(20261)
    landing = Landing(tmp_path / "killed")
    paid: list[tuple[int, set[str]]] = []
    with ChatServer(script) as server:

        def start() -> multiprocessing.process.BaseProcess:
            job = context.Process(target=run_job, args=(landing.home, server.url, CALLS))
            job.start()
            return job

        for _ in range(KILLS):
            stop_at = len(server.seen) + draw.randrange(2 * CALLS // (KILLS + 2))
            job = start()
            while job.is_alive() and len(server.seen) < stop_at:
                time.sleep(0.001)
            time.sleep(draw.random() * 0.02)
            job.kill()
            job.join()
            paid.append((len(server.seen), set(good(landing))))
        job = start()
        job.join()
        assert job.exitcode == 0
        prompts = server.prompts

    for seen_before, landed in paid:
        again = landed & set(prompts[seen_before:])
        assert not again, f"landed before a kill and sent after it: {sorted(again)[:5]}"
    failing = sum(number % 20 == 7 for number in range(CALLS))
    assert len(prompts) <= CALLS + failing + KILLS * CONCURRENCY

    with ChatServer(script) as server:
        undisturbed = Landing(tmp_path / "undisturbed")
        run_job(undisturbed.home, server.url, CALLS)
        assert len(server.prompts) == CALLS + failing
    assert good(landing) == good(undisturbed)
    assert len(good(landing)) == CALLS
    assert list(journal_folder(landing).glob("*.journal*")) == []
    # No attempt has landed twice, not even under the kills.
    keys = [(row["call_id"], row["attempt"]) for row in landing.read("llm_calls", latest=False).to_pylist()]
    assert len(keys) == len(set(keys))
    landed_at_kills = [len(landed) for _, landed in paid]
    print(f"{CALLS} calls, {KILLS} kills: {len(prompts)} requests sent; landed at the kills: {landed_at_kills}")
