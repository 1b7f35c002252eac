"""``saber judge`` and ``saber rate`` from the command line, on a small warehouse made by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from warehouse.cli import main
from warehouse.identity import content_hash, pair_hash
from warehouse.landing import Landing
from warehouse.settings import load_settings
from warehouse.variants import benchmark_variant, ontology_in_use, selected_variants

N_DOCUMENTS = 6


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two queries of six candidates; q1 and its candidates carry technique labels."""
    monkeypatch.setenv("SABER_HOME", str(tmp_path))
    build(tmp_path, N_DOCUMENTS)
    return tmp_path


def build(home: Path, n_documents: int) -> None:
    settings = load_settings(home)
    variant = benchmark_variant(settings, ontology_in_use(settings, Landing(home)))
    problems, candidates = [], []
    for q in (0, 1):
        for d, name in enumerate([f"q{q}", *(f"q{q}d{d}" for d in range(n_documents))]):
            statement = f"Find the value of ${q + 2}x^{d + 1}$."
            solution = "Factor. " * (1 + d % 3) + "Use induction on n. " * (d // 2)
            labels = json.dumps({"techniques": [f"t{d % 4}", f"t{d % 3}"]}) if q else None
            problems.append((name, statement, solution, labels, content_hash(statement, solution)))
            if d:
                candidates.append((settings.benchmark.name, variant, f"q{q}", name))
    (home / "warehouse.duckdb").unlink(missing_ok=True)
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        for schema in ("staging", "signals", "benchmark"):
            connection.execute(f"create schema {schema}")
        connection.execute(
            "create table staging.stg_problems(problem_id varchar, statement varchar, solution varchar, "
            "metadata varchar, content_hash varchar)"
        )
        connection.execute("create table signals.problem_topics(problem_id varchar, topic_id varchar)")
        connection.execute(
            "create table benchmark.candidates("
            "benchmark varchar, variant varchar, query_id varchar, document_id varchar)"
        )
        connection.executemany("insert into staging.stg_problems values (?, ?, ?, ?, ?)", problems)
        if candidates:
            connection.executemany("insert into benchmark.candidates values (?, ?, ?, ?)", candidates)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = main([*arguments, "--json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if printed.out.strip() else {}, printed.err


def ratings(home: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["query_id"], row["document_id"]): row for row in Landing(home).read("ratings").to_pylist()}


def land_verdicts(home: Path, verdicts: list[tuple[str, str, str, str]]) -> None:
    """Land (query, first, second, verdict) as the selected variant's."""
    settings = load_settings(home)
    variant = selected_variants(settings, ontology_in_use(settings, Landing(home))).judgments
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as connection:
        hashes = dict(connection.execute("select problem_id, content_hash from staging.stg_problems").fetchall())
    rows = [
        {
            "benchmark": settings.benchmark.name,
            "query_id": query,
            "first_id": first,
            "second_id": second,
            "kind": "pair",
            "vote": 0,
            "judge": "offline-techniques" if query == "q1" else "offline-similarity",
            "schedule": "swiss",
            "round": 1,
            "verdict": verdict,
            "provider": "offline",
            "model": "lexical-1",
            "content_hash": pair_hash(hashes[query], hashes[first], hashes[second]),
            "variant": variant,
        }
        for query, first, second, verdict in verdicts
    ]
    Landing(home).append("judgments", rows, "job")


def test_judge_then_rate(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, judged, _ = run(capsys, "judge", "--rounds", "4")
    assert code == 0
    assert judged["judges"] == "offline-similarity, offline-techniques"
    code, rated, _ = run(capsys, "rate")
    assert code == 0
    assert (rated["rated_queries"], rated["rated_documents"]) == (2, 12)
    variants = selected_variants(load_settings(home), ontology_in_use(load_settings(home), Landing(home)))
    assert rated["variant"] == variants.ratings
    assert judged["variant"] == variants.judgments
    rows = ratings(home)
    judgments = Landing(home).read("judgments").to_pylist()
    for q, judge in (("q0", "offline-similarity"), ("q1", "offline-techniques")):
        own = [row for row in judgments if row["query_id"] == q]
        ids = sorted({row[c] for row in own for c in ("first_id", "second_id")})
        design = np.zeros((2 * len(own), len(ids)))
        for k, row in enumerate(own):
            winner, loser = row["first_id"], row["second_id"]
            if row["verdict"] == "second":
                winner, loser = loser, winner
            design[2 * k, [ids.index(winner), ids.index(loser)]] = [1, -1]
            design[2 * k + 1] = -design[2 * k]
        model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-11, solver="newton-cholesky")
        model.fit(design, [1, 0] * len(own), np.full(len(design), 0.5))
        theta = model.coef_[0]
        scaled = 5 * (theta - theta.min()) / (theta.max() - theta.min())
        for d, expected, strength in zip(ids, scaled, theta, strict=True):
            row = rows[q, d]
            assert row["rating"] == pytest.approx(expected, abs=1e-6)
            assert row["log_strength"] == pytest.approx(strength, abs=1e-6)
            assert (row["judge"], row["schedule"], row["ridge"]) == (judge, "swiss", 1.0)
            assert row["n_comparisons"] == sum(d in (r["first_id"], r["second_id"]) for r in own)


def test_second_runs_change_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        run(capsys, "judge")
        run(capsys, "rate", "--replicates", "3")
    files = sorted(path.name for path in (home / "landing").rglob("*.parquet"))
    run(capsys, "judge")
    code, rated, _ = run(capsys, "rate", "--replicates", "3")
    assert (code, rated["rows_landed"], rated["replicate_rows_landed"], rated["draw_rows_landed"]) == (0, 0, 0, 0)
    assert sorted(path.name for path in (home / "landing").rglob("*.parquet")) == files


def test_replicates_are_extended_and_redone_with_new_verdicts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "judge", "--rounds", "2")
    assert run(capsys, "rate", "--replicates", "2")[1]["replicate_rows_landed"] == 24
    assert run(capsys, "rate", "--replicates", "5")[1]["replicate_rows_landed"] == 36
    run(capsys, "judge", "--rounds", "4")
    assert run(capsys, "rate")[1]["replicate_rows_landed"] == 60, "all five, since the verdicts are others"
    rows = Landing(home).read("rating_replicates").to_pylist()
    assert {row["replicate"] for row in rows} == set(range(5))
    assert len(rows) == 60
    draws = Landing(home).read("rating_draws").to_pylist()
    assert Counter(row["draw"] for row in draws) == dict.fromkeys(range(5), 12)
    assert len({row["log_strength"] for row in rows if row["document_id"] == "q0d0"}) > 1


def test_rate_without_verdicts_is_an_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rate"]) == 1
    assert "saber judge" in capsys.readouterr().err
    assert not (home / "landing" / "ratings").exists() or not ratings(home)


def test_what_cannot_be_rated_is_reported(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """q0: two graphs and an unjudged document; q1: ties alone."""
    land_verdicts(
        home,
        [
            ("q0", "q0d0", "q0d1", "first"),
            ("q0", "q0d2", "q0d3", "second"),
            ("q0", "q0d3", "q0d4", "first"),
            ("q0", "q0d5", "q0d4", "invalid"),
            ("q1", "q1d0", "q1d1", "tie"),
            ("q1", "q1d1", "q1d2", "tie"),
        ],
    )
    code, rated, err = run(capsys, "rate")
    assert code == 0
    assert rated["disconnected_queries"] == ["q0"]
    assert rated["degenerate_queries"] == ["q1"]
    assert rated["unjudged_documents"] == 1 + 3
    assert "--finish" in err
    rows = ratings(home)
    assert len(rows) == 12
    assert rows["q0", "q0d5"]["rating"] is None
    assert (rows["q0", "q0d5"]["n_comparisons"], rows["q0", "q0d5"]["log_strength"]) == (0, None)
    assert rows["q0", "q0d3"]["component"] != rows["q0", "q0d0"]["component"]
    assert [rows["q1", f"q1d{d}"]["rating"] for d in range(6)] == [None] * 6
    assert rows["q1", "q1d0"]["log_strength"] == 0
    assert (rows["q0", "q0d0"]["separable"], rows["q1", "q1d0"]["separable"]) == (True, False)


def test_query_without_verdicts_fails_and_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land_verdicts(home, [("q0", "q0d0", "q0d1", "first")])
    code, rated, err = run(capsys, "rate")
    assert code == 1
    assert rated["queries_without_verdicts"] == ["q1"]
    assert "q1" in err


def test_maximum_likelihood_that_does_not_exist_is_reported(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.toml"
    text = (Path(__file__).parent.parent / "saber.toml").read_text("utf-8")
    own.write_text(text.replace("ridge = 1.0", "ridge = 0.0"), encoding="utf-8")
    monkeypatch.setenv("SABER_SETTINGS", str(own))
    build(home, N_DOCUMENTS)
    circle = [("q1", f"q1d{d}", f"q1d{(d + 1) % 6}", "first") for d in range(6)]
    extra = [("q1", "q1d0", "q1d3", "first")]
    land_verdicts(home, [("q0", "q0d0", "q0d1", "first"), *circle, *extra])
    code, rated, err = run(capsys, "rate")
    assert code == 1
    assert rated["queries_without_finite_estimate"] == ["q0"]
    assert "separable" in err
    rows = ratings(home)
    assert rows["q0", "q0d0"]["rating"] is None
    assert rows["q1", "q1d0"]["rating"] is not None


def test_ridge_auto_lands_the_chosen_ridge(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.toml"
    text = (Path(__file__).parent.parent / "saber.toml").read_text("utf-8")
    own.write_text(text.replace("ridge = 1.0 ", 'ridge = "auto" '), encoding="utf-8")
    monkeypatch.setenv("SABER_SETTINGS", str(own))
    build(home, N_DOCUMENTS)
    run(capsys, "judge")
    _, rated, _ = run(capsys, "rate")
    assert rated["log_evidence"] < 0
    assert {row["ridge"] for row in ratings(home).values()} == {rated["ridge"]}


def test_candidates_of_other_settings_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute("update benchmark.candidates set variant = 'another'")
    for command in ("judge", "rate"):
        assert main([command]) == 1
        assert "dbt build" in capsys.readouterr().err


def test_no_warehouse_and_no_queries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SABER_HOME", str(tmp_path))
    assert main(["judge"]) == 1
    assert "dbt build" in capsys.readouterr().err
    build(tmp_path, 0)
    assert main(["judge"]) == 0
    assert main(["rate"]) == 0
    assert "no queries" in capsys.readouterr().err


def test_dry_run_lands_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, planned, _ = run(capsys, "judge", "--dry-run", "--rounds", "3")
    assert planned["calls"] == 2 * 3 * 3
    assert not list(home.rglob("*.parquet"))
    _, planned, _ = run(
        capsys, "judge", "--dry-run", "--provider", "server", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"
    )
    assert planned["tokens_in"] > 1000
    assert planned["pilot_calls"] == 0


def test_limit_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, judged, err = run(capsys, "judge", "--limit", "4")
    assert (code, judged["asked"], judged["unfinished"]) == (0, 4, True)
    assert "limit" in err


def test_a_document_that_is_no_candidate_any_more_loses_its_rating_and_gets_it_back(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its old rating stayed the latest one, and analyses of all ratings read it."""
    run(capsys, "judge")
    assert run(capsys, "rate", "--replicates", "1")[1]["former_candidates_withdrawn"] == 0
    before = ratings(home)
    build(home, N_DOCUMENTS - 1)
    assert run(capsys, "rate")[1]["former_candidates_withdrawn"] == 2
    assert run(capsys, "rate")[1]["former_candidates_withdrawn"] == 0
    for q in ("q0", "q1"):
        gone = ratings(home)[q, f"{q}d{N_DOCUMENTS - 1}"]
        assert (gone["rating"], gone["log_strength"], gone["n_comparisons"]) == (None, None, None)
        assert (gone["judge"], gone["variant"]) == (before[q, gone["document_id"]]["judge"], gone["variant"])
        assert ratings(home)[q, f"{q}d0"]["rating"] is not None
    build(home, N_DOCUMENTS)
    assert run(capsys, "rate")[1]["rows_landed"] > 0
    after = ratings(home)
    assert {key: row["rating"] for key, row in after.items()} == {key: row["rating"] for key, row in before.items()}
