"""``saber source``: the steps from messy texts to a corpus that need a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from annotate.commands.source_plain import documents_of, register_plain, show
from warehouse.cli.common import Subparsers, add_common, job, note, settings_from, whole_number

if TYPE_CHECKING:
    from annotate.sourcing.setup import Asking
    from annotate.sourcing.step import Step

_STEPS = {
    "best-solution": "choose the best of several solutions of a problem by its number",
    "translate": "translate problems, with numbers and formulas held to the source",
    "format": "put formulas into LaTeX delimiters, with the text held to what it said",
    "complete": "check that statements and solutions are complete",
}


def register(commands: Subparsers) -> None:
    """Add ``source`` and its steps."""
    parser = commands.add_parser("source", help="sourcing steps that ask a model, and the review list")
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    for name, words in _STEPS.items():
        step = steps.add_parser(name, help=words, description=f"{words.capitalize()}.")
        step.add_argument("--source", metavar="NAME", help="only problems of this source")
        step.add_argument(
            "--limit",
            type=whole_number(1),
            metavar="N",
            help="do at most N problems now, quarantined ones passed over",
        )
        if name == "translate":
            step.add_argument("--to", default="en", metavar="LANGUAGE", help="two letters (default: en)")
        if name == "format":
            step.add_argument(
                "--queries",
                action="store_true",
                help="only the statements of the benchmark's queries, landed beside the problems: what "
                "evaluation.formulas reads to part mathematics from words",
            )
        _add_asking_flags(step)
        step.set_defaults(run=_step, step=name)
    _register_segment(steps)
    register_plain(steps)


def _register_segment(steps: Subparsers) -> None:
    segment = steps.add_parser("segment", help="cut documents into problems with solutions by line numbers")
    segment.add_argument("paths", nargs="+", metavar="PATH", help="Markdown, TeX, text or PDF files, or folders")
    segment.add_argument("--source", required=True, metavar="NAME", help="name of the source, part of every id")
    segment.add_argument("--glob", metavar="PATTERN", help="which files of a folder to take")
    segment.add_argument("--encoding", help="encoding of text files (default: guessed and reported)")
    segment.add_argument("--language", help="language of the documents")
    segment.add_argument("--licence", help="licence of the documents")
    segment.add_argument("--ocr", metavar="NAME", help="converter of PDF that an installed package offers")
    segment.add_argument(
        "--lines", type=whole_number(1), metavar="N", help="most lines in one question (default: 300)"
    )
    segment.add_argument("--problems-only", action="store_true", help="the documents hold no solutions")
    segment.add_argument(
        "--keep-matched",
        action="store_true",
        help="from documents whose counts differ, land the problems whose solution bears their number",
    )
    segment.add_argument("--no-clean", action="store_true", help="land the texts as they stand in the documents")
    _add_asking_flags(segment)
    segment.set_defaults(run=_segment)


def _add_asking_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", metavar="NAME", help="server, vllm-batch or a profile of saber.toml")
    parser.add_argument("--model", metavar="M", help="model to ask (default: the profile's)")
    parser.add_argument("--base-url", action="append", metavar="URL", help="server to ask; repeat to share the load")
    parser.add_argument("--prompt", metavar="FILE", help="ask in the words of this file")
    parser.add_argument("--concurrency", type=whole_number(1), metavar="C", help="calls under way at once")
    parser.add_argument("--retry-quarantined", action="store_true", help="ask again where replies failed too often")
    parser.add_argument("--dry-run", action="store_true", help="show calls, tokens, hours and cost; ask nothing")
    add_common(parser)


def _prepare(args: argparse.Namespace, step: str, prompt_name: str, places: tuple[str, ...], choices: Any) -> Asking:
    from annotate.sourcing.setup import prepare

    return prepare(
        settings_from(args),
        step,
        prompt_name,
        places,
        choices,
        args.provider,
        args.model,
        args.base_url,
        args.prompt,
        args.concurrency,
        args.retry_quarantined,
    )


def _named_step(args: argparse.Namespace) -> Step:
    # Imported here, as everywhere below: the other commands should not wait for NumPy.
    from annotate.sourcing.best_solution import BestSolution
    from annotate.sourcing.complete import Complete
    from annotate.sourcing.format_formulas import FormatFormulas
    from annotate.sourcing.translate import Translate

    if args.step == "translate":
        return Translate(args.to)
    plain: dict[str, Step] = {step.name: step for step in (BestSolution(), FormatFormulas(), Complete())}
    return plain[args.step]


def _step(args: argparse.Namespace) -> int:
    from annotate.calls.estimate import estimate_requests
    from annotate.sourcing.candidates import Candidates
    from annotate.sourcing.delimited import DelimitedJob, QueryStatements
    from annotate.sourcing.job import StepJob, validator_of
    from annotate.sourcing.running import first, run

    step = _named_step(args)
    asking = _prepare(args, step.name, step.prompt_name, step.places, step.choices)
    beside = step.name == "format" and args.queries
    wanted = QueryStatements(asking, step, args.source) if beside else Candidates(asking.landing, step, args.source)
    with wanted as candidates:
        total = sum(1 for _ in first(candidates.records(), args.limit))
        before = {"done_before": candidates.done, "nothing_to_do": candidates.unwanted}
        if args.dry_run:
            requests = (step.request(problem, asking.prompt) for problem in first(candidates.records(), args.limit))
            planned = estimate_requests(asking.landing, asking.provider, requests, asking.policy)
            show(args, {"step": step.name, "problems": total, **before, **planned.as_dict()})
            return 0
        if not total:
            show(args, {"step": step.name, "problems": 0, "failed": 0, **before})
            return 0
        with job(asking.landing, asking.settings, f"source {step.name}", args) as record:
            record.start()

            def start(log: Any) -> Any:
                if beside:
                    step_job: StepJob = DelimitedJob(asking, log, step, record.job_id)
                else:
                    step_job = StepJob(asking.landing, log, step, asking.prompt, asking.variant, record.job_id)
                return step_job.run(candidates.records(), total, args.limit)

            outcome, calls = run(asking, record.job_id, validator_of(step.read, "problem"), start)
            record.summary.update(step=step.name, **outcome.as_dict(), calls=calls)
            if outcome.undone:
                record.summary["incomplete"] = True
    show(args, {**record.summary, **before})
    if outcome.for_review:
        note(f"{outcome.for_review} items came to the review list: saber source review")
    if outcome.undone:
        note(
            f"{outcome.undone} problems are not done: their replies failed or they changed meanwhile. Run the same "
            "command again; for quarantined calls add --retry-quarantined."
        )
    return 1 if outcome.undone else 0


def _segment(args: argparse.Namespace) -> int:
    from annotate.calls.estimate import estimate_requests
    from annotate.sourcing.running import run
    from annotate.sourcing.segment.job import NAME, PLACES, SegmentJob, validate, window_request
    from annotate.sourcing.segment.records import SegmentOptions
    from annotate.sourcing.segment.windows import LINES, windows
    from warehouse.sources.facts import source_facts

    size = args.lines or LINES
    asking = _prepare(args, NAME, "sourcing_segment", PLACES, {"lines": size})
    facts = source_facts(asking.settings, args.source, args.language, args.licence)
    documents, refused = documents_of(args)
    shown: dict[str, Any] = {"step": NAME, "source": args.source}
    if args.dry_run:
        requests = [window_request(w, asking.prompt) for document in documents for w in windows(document, size)]
        planned = estimate_requests(asking.landing, asking.provider, requests, asking.policy)
        show(args, {**shown, "documents": len(documents), "refused": refused, **planned.as_dict()})
        return 1 if refused else 0
    options = SegmentOptions(
        args.source, facts.language, facts.licence, args.problems_only, args.keep_matched, not args.no_clean, size
    )
    with job(asking.landing, asking.settings, f"source {NAME}", args) as record:
        record.start()

        def start(log: Any) -> Any:
            return SegmentJob(asking.landing, log, asking.prompt, asking.variant, record.job_id, options).run(
                documents, len(documents)
            )

        outcome, calls = run(asking, record.job_id, validate, start)
        record.summary.update(**shown, **outcome.as_dict(), refused=refused, calls=calls)
        undone = outcome.for_review + outcome.failed + refused
        if undone:
            record.summary["incomplete"] = True
    show(args, record.summary)
    if outcome.for_review:
        note(
            f"{outcome.for_review} documents came to the review list and did not land as a whole: saber source "
            "review. Correct the document and cut it again, or take what is certain with --keep-matched."
        )
    if outcome.failed:
        note(
            f"{outcome.failed} documents are not done: replies failed. Run the same command again; for quarantined "
            "calls add --retry-quarantined."
        )
    return 1 if undone else 0
