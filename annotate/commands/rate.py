"""``saber rate``: fit strengths to the landed verdicts of every query and land ratings from 0 to 5."""

from __future__ import annotations

import argparse
import json
from typing import Any

from annotate.commands.judge import add_judging_flags, setup_from
from warehouse.cli.common import Subparsers, add_common, job, note, whole_number
from warehouse.errors import SaberError

_SHOWN_IDS = 8


def register(commands: Subparsers) -> None:
    """Add ``rate``."""
    parser = commands.add_parser("rate", help="fit ratings to the landed verdicts", description=__doc__)
    parser.add_argument(
        "--replicates",
        type=whole_number(0),
        metavar="B",
        help="also land B refits on resampled verdicts and B draws from the posterior",
    )
    add_judging_flags(parser)
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    # Imported here: NumPy and SciPy would make every other command slow to start.
    import numpy as np
    import pyarrow as pa

    from annotate.ratings.job import Stamp, changed_rows, rate, rating_rows, withdrawn_rows
    from annotate.tournament.field import read_landed
    from warehouse.variants import ratings_variant

    setup = setup_from(args)
    if not setup.field.entrants:
        note("The benchmark has no queries yet (benchmark.query_quotas says why): nothing to rate.")
        return 0
    source, settings = setup.provenance, setup.settings
    landed = read_landed(setup.landing, setup.field, setup.judge_names, source.schedule, source.variant)
    if bool(np.isnan(landed.results.share).all()):
        raise SaberError(
            f"No valid verdict of variant {source.variant} about the current candidates has landed. "
            "Have them judged first: saber judge"
        )
    if settings.ratings.ridge == "auto":
        note("Choosing the ridge by marginal likelihood:")
    rated = rate(setup.field, landed.results, settings.ratings.ridge, settings.ratings.scale, _tell_step)
    variant = ratings_variant(settings, source.variant)
    stamp = Stamp(source.benchmark, tuple(setup.judge_names), source.schedule, variant, source.provider, source.model)
    with job(setup.landing, settings, "rate", args) as record:
        fitted = rating_rows(rated, stamp)
        rows, withdrawn = changed_rows(setup.landing, fitted, variant), withdrawn_rows(setup.landing, fitted, variant)
        # Samples first: after a kill in between, ratings that still differ have all samples redone.
        n_refits, n_draws = _sample(args, setup, rated, stamp, rows.num_rows > 0, record)
        if rows.num_rows or withdrawn.num_rows:
            record.start()
            setup.landing.append("ratings", pa.concat_tables([rows, withdrawn]), record.job_id)
        result = {
            "judges": ", ".join(sorted(set(setup.judge_names))),
            "schedule": source.schedule,
            "variant": variant,
            **rated.report(),
            "rows_landed": rows.num_rows,
            "former_candidates_withdrawn": withdrawn.num_rows,
        }
        if rated.choice is not None:
            result["log_evidence"] = rated.choice.log_evidence
            result["ridge_at_bound"] = rated.choice.at_bound
        result["replicate_rows_landed"], result["draw_rows_landed"] = n_refits, n_draws
        record.summary.update({key: len(v) if isinstance(v, list) else v for key, v in result.items()})
    _show(args, result)
    return _exit_code(result)


def _sample(args: argparse.Namespace, setup: Any, rated: Any, stamp: Any, is_changed: bool, record: Any) -> list[int]:
    """Land the refits and the draws that are wanted; return the rows landed of each."""
    from tqdm import tqdm

    from annotate.ratings.samples import draws, refits

    ratings = setup.settings.ratings
    wanted = ratings.replicates if args.replicates is None else args.replicates
    landed = []
    for make in (refits, draws):
        samples = make(setup.landing, record.job_id, stamp, rated, ratings.scale, ratings.seed)
        numbers = samples.missing(wanted, is_changed)
        if make is draws and len(numbers) and rated.fitted.ridge <= 0:
            note("Without a ridge the posterior is improper: no draws, so single queries show no noise.")
            numbers = numbers[:0]
        if len(numbers):
            record.start()
        with tqdm(total=len(numbers), desc=samples.number, unit="sample", disable=None, leave=False) as progress:
            landed.append(samples.run(numbers, progress.update))
    return landed


def _exit_code(result: dict[str, Any]) -> int:
    """Explain what could not be rated; not 0 when a query was asked for and has no fit."""
    explained = {
        "queries_without_verdicts": "have no valid verdict: saber judge",
        "disconnected_queries": "fall into groups never compared with each other, whose order rests on the ridge "
        "alone: saber judge --finish",
        "degenerate_queries": "have no two different strengths, so their ratings are NULL",
        "queries_without_finite_estimate": "have separable documents and no maximum-likelihood estimate at ridge 0, "
        "so their ratings are NULL: set ratings.ridge above 0 or to auto",
        "queries_not_converged": "did not converge",
    }
    for key, words in explained.items():
        if names := result[key]:
            note(f"{len(names)} queries {words}: {_listed(names)}")
    if result["unjudged_documents"]:
        note(f"{result['unjudged_documents']} candidates have no valid verdict and no rating: saber judge --finish")
    if result.get("ridge_at_bound"):
        note(f"The verdicts do not determine the ridge; {result['ridge']:g} is the end of the searched range.")
    undone = ("queries_without_verdicts", "queries_without_finite_estimate", "queries_not_converged")
    return 1 if any(result[key] for key in undone) else 0


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN_IDS])
    return shown if len(names) <= _SHOWN_IDS else f"{shown}, … (--json lists all)"


def _tell_step(ridge: float, log_evidence: float) -> None:
    note(f"  ridge {ridge:.4g}: log evidence {log_evidence:.3f}")


def _show(args: argparse.Namespace, result: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps(result, default=str))
        return
    for key, value in result.items():
        if isinstance(value, list):
            value = len(value)
        if isinstance(value, float):
            value = f"{value:.6g}"
        print(f"{key.replace('_', ' '):<32}{value}")
