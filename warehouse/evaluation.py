"""Score a system of your own on the benchmark in ten lines; nothing lands.

::

    import warehouse

    def scorer(query: str, documents: list[str]) -> list[float]:
        words = set(query.lower().split())
        return [len(words & set(document.lower().split())) for document in documents]

    row = warehouse.evaluate(scorer, setting="statement-full")
    print(row["overall"], row["domains"])        # mean nDCG@10, overall and by domain

The numbers are those that ``evaluation.leaderboard`` would show had the same scores been landed as a run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.resampling import bootstrap_means, percentile_interval
from udfs.score_groups import OVERALL, score_groups
from warehouse.collection import Collection, load_collection
from warehouse.errors import SaberError
from warehouse.metrics import measure_runs
from warehouse.settings import Settings, load_settings
from warehouse.texts import MAIN_SETTING, forms

Scorer = Callable[..., Any]
_LINEAR = "ndcg_lin@10"
_SHOWN = 5


def evaluate(
    scorer: Scorer,
    home: Path | str | None = None,
    setting: str = MAIN_SETTING,
    *,
    scope: str = "candidates",
    benchmark: str | None = None,
    variant: str | None = None,
    name: str | None = None,
    batch: int | None = None,
    per_query: bool = False,
) -> dict[str, Any]:
    """Rank every query's documents by `scorer` and return the row the leaderboard would have.

    Parameters
    ----------
    scorer
        ``scorer(query_text, [document_text, ...]) -> scores``, higher is better, one a document: a list, an array
        or anything else that gives them in order. With `batch`:
        ``scorer([query_text, ...], [[document_text, ...], ...]) -> [scores, ...]``, that many queries a call.
        ``None`` in place of a query's scores leaves the query out of the run: it scores 0 and is counted.
    home
        Warehouse home; ``SABER_HOME``, else ``data/``.
    setting
        ``statement-statement``, ``statement-full`` or ``full-full``: query text - document text.
    scope
        ``candidates``: each query's own; ``corpus``: all eligible problems but the query and copies of its text.
    benchmark
        Another benchmark, imported with ``saber import qrels``.
    variant
        Settings variant, a table ``[variants.NAME]`` of ``saber.toml``.
    name
        Name of the system; the scorer's own when absent.
    per_query
        Add ``queries``: {query id: nDCG@10}, None where the query has no ideal gain.

    Returns
    -------
    dict
        benchmark, variant, setting, scope, system, ``overall`` (mean nDCG@10 with the gain of the settings, in
        [0, 1]), ``overall_low`` and ``overall_high`` (95 % bootstrap interval over queries), ``domains`` ({domain:
        mean over the queries that bear it}), ``domain_intervals``, ndcg_lin_10, ``measures`` (mean of each measure
        at each cut-off), n_queries, n_missing, n_degenerate, n_tied_at_cutoff, share_judged, judge, build_id and
        ``seconds`` that the scorer took.

    Raises
    ------
    SaberError
        For an unknown setting or benchmark, and for scores that are too few, too many or not finite; the message
        names the query.
    """
    settings = load_settings(home=home, variant=variant)
    forms(setting)
    if not callable(scorer):
        raise SaberError(f"The scorer must be a function of a query and its documents, not {scorer!r}.")
    if batch is not None and not (isinstance(batch, int) and batch >= 1):
        raise SaberError(f"batch must be at least 1 query a call, not {batch}.")
    collection = load_collection(settings, benchmark, scope)
    begun = time.perf_counter()
    run = scored_run(scorer, collection, setting, scope, batch)
    seconds = time.perf_counter() - begun
    system = name or str(getattr(scorer, "__name__", type(scorer).__name__))
    row = {
        "benchmark": collection.name,
        "variant": collection.variant,
        "setting": setting,
        "scope": scope,
        "system": system,
        **measure(run, collection, settings, per_query),
    }
    return {**row, "judge": collection.judge, "build_id": collection.build_id, "seconds": seconds}


def scored_run(
    scorer: Scorer, collection: Collection, setting: str, scope: str = "candidates", batch: int | None = None
) -> pa.Table:
    """Have every query scored; return query_id, document_id and score, checked."""
    query_form, document_form = forms(setting)
    texts = {one: collection.text(one, document_form) for one in collection.document_ids}
    queries: list[str] = []
    documents: list[str] = []
    scores: list[np.ndarray] = []
    for query_id, document_ids, found in _calls(scorer, collection, query_form, texts, scope, batch):
        if found is None:
            continue
        queries += [query_id] * len(document_ids)
        documents += document_ids
        scores.append(_checked(found, query_id, document_ids))
    return pa.table(
        {
            "query_id": pa.array(queries, pa.string()),
            "document_id": pa.array(documents, pa.string()),
            "score": pa.array(np.concatenate([np.empty(0), *scores]), pa.float64()),
        }
    )


def _calls(
    scorer: Scorer, collection: Collection, query_form: str, texts: dict[str, str], scope: str, batch: int | None
) -> Iterator[tuple[str, Sequence[str], Any]]:
    for start in range(0, len(collection.query_ids), batch or 1):
        ids = collection.query_ids[start : start + (batch or 1)]
        allowed = [collection.allowed(one, scope) for one in ids]
        shown = [[texts[document] for document in documents] for documents in allowed]
        query_texts = [collection.text(one, query_form) for one in ids]
        found = [scorer(query_texts[0], shown[0])] if batch is None else _in_order(scorer(query_texts, shown))
        if found is None:
            raise SaberError(f"The scorer returned no scores for the {len(ids)} queries from {ids[0]} on.")
        if len(found) != len(ids):
            raise SaberError(
                f"The scorer returned {len(found)} lists of scores for {len(ids)} queries from {ids[0]} on."
            )
        yield from zip(ids, allowed, found, strict=True)


def _checked(found: Any, query_id: str, document_ids: Sequence[str]) -> np.ndarray:
    try:
        scores = np.asarray(_in_order(found), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SaberError(f"The scores for query {query_id} are no numbers: {error}.") from error
    if scores.shape != (len(document_ids),):
        returned = f"{scores.size} scores" if scores.ndim < 2 else f"scores of shape {scores.shape}"
        raise SaberError(
            f"The scorer returned {returned} for the {len(document_ids)} documents of query {query_id}: "
            "one a document is needed, in their order."
        )
    if not np.isfinite(scores).all():
        bad = [document_ids[at] for at in np.flatnonzero(~np.isfinite(scores))[:_SHOWN]]
        raise SaberError(f"Scores that are no finite number for query {query_id}: {', '.join(bad)}.")
    return scores


def _in_order(found: Any) -> Any:
    """Return what a scorer gave, the items of a generator or view as a list; a set has no order to go by."""
    if isinstance(found, Set) and not isinstance(found, KeysView | ItemsView):
        raise SaberError("The scorer returned a set, which has no order: one score a document is needed, in theirs.")
    is_read = not isinstance(found, Iterable) or isinstance(found, str | Sequence | Mapping)
    return found if is_read or hasattr(found, "__array__") else list(found)


def measure(run: pa.Table, collection: Collection, settings: Settings, per_query: bool = False) -> dict[str, Any]:
    """Return the leaderboard's numbers for a run (query_id, document_id, score), by the SQL of its view.

    See :func:`warehouse.metrics.measure_runs`. Queries without an ideal gain are left out of the means and counted.
    """
    if not run.num_rows:  # a run that leaves every query out has a place for a query that nobody asks about
        nowhere = pa.array([""], pa.string())
        run = pa.table({"query_id": nowhere, "document_id": nowhere, "score": pa.array([0.0])})
    values = measure_runs(
        run.append_column("run_id", pa.repeat(pa.scalar("run", pa.string()), run.num_rows)),
        _qrels(collection),
        sorted({*settings.evaluation.cutoffs, 10}),
        settings.evaluation.tie_break,
        counts_relevant=collection.name != settings.benchmark.name,
    )
    measured = headline(settings)
    with duckdb.connect() as connection:
        connection.register("metrics", values)
        connection.register("borne", _borne(collection))
        means = dict(connection.execute(f"select measure, {_MEAN} from metrics group by measure").fetchall())
        by_domain = dict(connection.execute(_BY_DOMAIN, [measured]).fetchall())
        n_missing, n_degenerate, n_tied = connection.execute(_COUNTS, [measured]).fetchall()[0]
    intervals = _intervals(values, collection, settings)
    found: dict[str, Any] = {
        "overall": means.get(measured),
        "overall_low": intervals.get(OVERALL, (None, None))[0],
        "overall_high": intervals.get(OVERALL, (None, None))[1],
        "domains": {domain: by_domain.get(domain) for domain, _ in collection.domain_columns},
        "domain_intervals": {
            domain: intervals[domain] for domain, _ in collection.domain_columns if domain in intervals
        },
        "ndcg_lin_10": means.get(_LINEAR),
        "measures": {name: means[name] for name in sorted(means)},
        "n_queries": len(collection.query_ids),
        "n_missing": n_missing,
        "n_degenerate": n_degenerate,
        "n_tied_at_cutoff": n_tied,
        "share_judged": collection.share_judged,
    }
    if per_query:
        rows = values.filter(pc.equal(values["measure"], measured))
        found["queries"] = dict(zip(rows["query_id"].to_pylist(), rows["value"].to_pylist(), strict=True))
    return found


def headline(settings: Settings) -> str:
    """Return the measure that scores are means of, as the macro of the same name does."""
    return f"ndcg_{settings.evaluation.gain}@10"


def _intervals(values: pa.Table, collection: Collection, settings: Settings) -> dict[str, tuple[float, float]]:
    """Return {domain or ``overall``: 95 % interval}, drawn as ``evaluation.bootstrap_intervals`` draws them."""
    if not settings.evaluation.bootstrap_replicates:
        return {}
    rows = values.filter(pc.equal(values["measure"], headline(settings)))
    scores = pa.table(
        {
            "benchmark": pa.repeat(pa.scalar(collection.name, pa.string()), rows.num_rows),
            **{name: rows[name] for name in ("run_id", "query_id", "value")},
        }
    )
    found: dict[str, tuple[float, float]] = {}
    for group in score_groups(scores, _borne(collection)):
        chosen = settings.evaluation
        means = bootstrap_means(group.values, chosen.bootstrap_replicates, chosen.seed, collection.name, group.domain)
        ends = percentile_interval(means)
        found[group.domain] = (float(ends.low[0].round(12)), float(ends.high[0].round(12)))
    return found


def _qrels(collection: Collection) -> pa.Table:
    return pa.table(
        {
            "query_id": pa.array([row["query_id"] for row in collection.qrels], pa.string()),
            "document_id": pa.array([row["document_id"] for row in collection.qrels], pa.string()),
            "relevance": pa.array([row["relevance"] for row in collection.qrels], pa.float64()),
        }
    )


def _borne(collection: Collection) -> pa.Table:
    pairs = [(query, domain) for query, domains in collection.domains.items() for domain in domains]
    return pa.table(
        {
            "query_id": pa.array([query for query, _ in pairs], pa.string()),
            "domain": pa.array([domain for _, domain in pairs], pa.string()),
        }
    )


# As macros/mean.sql: compensated, then rounded, so that the order of addition does not show.
_MEAN = "round(fsum(value) / count(value), 12)"
_BY_DOMAIN = f"""
select domain, {_MEAN}
from metrics
inner join borne using (query_id)
where measure = ?
group by domain
"""
_COUNTS = """
select count(*) filter (is_missing), count(*) filter (value is null), count(*) filter (is_tied_at_cutoff)
from metrics
where measure = ?
"""
