"""analysis.call_audit by numbers worked out by hand: attempts, cost at the prices of the day, attempts a second."""

from __future__ import annotations

import json

import pytest
from homes import Home

from warehouse.settings import ROOT

PRICES = {"price_in": 2.0, "price_out": 10.0, "currency": "EUR"}


def call(number: int, attempt: int, error: str | None, params: dict, **changes) -> dict:
    row = {
        "call_id": f"{number:032x}", "attempt": attempt, "purpose": "judge", "endpoint": "profile:p", "model": "m",
        "served_model": "m-1", "params": json.dumps(params), "prompt_version": "judge@1", "request": "{}",
        "reply": "x", "finish_reason": "stop", "tokens_in": 1000, "tokens_out": 100, "latency_s": 2.0, "error": error,
    }  # fmt: skip
    return {**row, **changes}


def test_cost_and_throughput(tmp_path):
    home = Home(tmp_path, (ROOT / "saber.toml").read_text("utf-8"))
    first = [
        call(1, 1, "length", PRICES, finish_reason="length", tokens_out=500),
        call(1, 2, None, PRICES),
        call(2, 1, None, {}),  # no prices then: no cost
        call(3, 1, "connect_failed", PRICES, served_model=None, tokens_in=None, tokens_out=None),
    ]
    home.landing.append("llm_calls", first, "job-1")
    home.landing.append("llm_calls", [call(4, 1, None, {**PRICES, "price_in": 4.0})], "job-2")
    home.landing.append("llm_calls", [call(5, 1, None, {})], "killed")
    for job, state, summary in (
        ("job-1", "started", {}), ("job-1", "done", {"seconds": 1.5}), ("job-2", "incomplete", {"seconds": 0.5}),
        ("killed", "started", {}),
    ):  # fmt: skip
        home.landing.append("jobs", [{"command": "judge", "state": state, "summary": json.dumps(summary)}], job)
    built = home.dbt("build", "-s", "+call_audit", "--indirect-selection", "cautious")
    assert built.returncode == 0, built.stdout
    columns = (
        "served_model, n_calls, n_attempts, n_good, n_truncated, n_failed, failures, tokens_in, tokens_out, cost, "
        "currency, attempts_per_s"
    )
    found = home.rows(f"select {columns} from analysis.call_audit order by served_model nulls last")
    assert len(found) == 2
    # 2 · 1000 + 10 · 500, 2 · 1000 + 10 · 100, 4 · 1000 + 10 · 100 per million.
    assert found[0] == ("m-1", 4, 5, 4, 1, 1, "length", 5000, 900, pytest.approx(0.015), "EUR", (3 + 1) / 2.0)
    assert found[1] == (None, 1, 1, 0, 0, 1, "connect_failed", None, None, None, "EUR", 1 / 1.5)
