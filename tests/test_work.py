"""Working through items: a limit counts what was done or asked, never what was passed over."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls.policy import Policy
from annotate.calls.progress import Counts
from annotate.work import work_through
from warehouse.errors import SaberError


def run(items, do, limit, concurrency=2):
    log = SimpleNamespace(policy=Policy(concurrency=concurrency), counts=Counts())
    total = len(items) if limit is None else min(limit, len(items))
    asyncio.run(asyncio.wait_for(work_through(items, total, log, do, "test", limit), 20))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3))), st.none() | st.integers(1, 8), st.integers(1, 3))
def test_the_first_items_that_count_are_done(items, limit, concurrency):
    done, passed = [], []

    async def do(item):
        number, (counts, pauses) = item
        for _ in range(pauses):
            await asyncio.sleep(0)
        (done if counts else passed).append(number)
        return counts

    run(list(enumerate(items)), do, limit, concurrency)
    wanted = [number for number, (counts, _) in enumerate(items) if counts]
    assert len(done) == len(wanted if limit is None else wanted[:limit])
    assert set(done) <= set(wanted)
    if limit is None or len(wanted) < limit:
        assert sorted(done + passed) == list(range(len(items)))


def test_no_more_than_the_limit_is_begun_at_once():
    begun, most = 0, 0

    async def do(item):
        nonlocal begun, most
        begun += 1
        most = max(most, begun)
        await asyncio.sleep(0)
        begun -= 1
        return item >= 20

    run(list(range(100)), do, limit=3, concurrency=8)
    assert most == 3


def test_an_error_ends_those_who_wait_for_the_limit():
    async def do(item):
        await asyncio.sleep(0)
        raise SaberError("the service is down. Try later.")

    with pytest.raises(SaberError, match="down"):
        run(list(range(10)), do, limit=2, concurrency=4)
