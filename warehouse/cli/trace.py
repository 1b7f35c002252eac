"""``saber trace QUERY DOCUMENT``: the chain rating, judgments, calls, raw replies of one relevance."""

from __future__ import annotations

import argparse
import json
from typing import Any

from warehouse.cli.common import Subparsers, add_common, settings_from
from warehouse.trace import Chain, trace

_SHOWN = 1200


def register(commands: Subparsers) -> None:
    """Add ``trace``."""
    parser = commands.add_parser("trace", help="show the judgments, calls and raw replies behind one relevance")
    parser.add_argument("query", metavar="QUERY", help="problem id of the query")
    parser.add_argument("document", metavar="DOCUMENT", help="problem id of its candidate")
    parser.add_argument("--full", action="store_true", help="print texts and replies whole")
    add_common(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    chain = trace(settings_from(args), args.query, args.document)
    if args.json:
        print(json.dumps(chain.as_dict(), ensure_ascii=False, default=str))
    else:
        print("\n".join(lines(chain, None if args.full else _SHOWN)))
    return 0


def lines(chain: Chain, limit: int | None) -> list[str]:
    """Return the chain as lines of text; texts longer than `limit` characters are cut in the middle."""
    return [
        f"query     {_safe(chain.query['problem_id'])}",
        *_indented(chain.query["statement"], limit and limit // 4),
        f"document  {_safe(chain.document['problem_id'])}",
        *_indented(chain.document["statement"], limit and limit // 4),
        "",
        *_relevance(chain.relevance),
        "",
        *_judgments(chain.judgments),
        *_byes(chain.byes),
        "",
        *_calls(chain.calls, limit),
    ]


def _relevance(row: dict[str, Any]) -> list[str]:
    if row["origin"] != "candidates":
        return [f"relevance {row['relevance']} imported from {_safe(row['origin'])} (benchmark {row['benchmark']})"]
    if row["relevance"] is None:
        return [f"relevance none yet (class {row['class']}): saber judge, saber rate, then dbt build"]
    facts = [
        f"log strength {row['log_strength']:.4f}" if row.get("log_strength") is not None else None,
        f"standard error {row['std_error']:.4f}" if row["std_error"] is not None else None,
        f"{row['n_comparisons']} comparisons" if row.get("n_comparisons") is not None else None,
        f"ridge {row['ridge']:g}" if row.get("ridge") is not None else None,
        f"component {row['component']}" if row.get("component") else None,
        "separable: only the ridge keeps it finite" if row.get("separable") else None,
    ]
    return [
        f"relevance {row['relevance']:.4f}   class {row['class']}",
        f"  judge {_safe(row['judge'])}, schedule {row['schedule']}, {row['provider']} {_safe(row['model'])}",
        f"  {', '.join(fact for fact in facts if fact)}",
        f"  variant {row['ratings_variant']}, landed by {row['job_id']}",
    ]


def _judgments(rows: list[dict[str, Any]]) -> list[str]:
    counts = {name: sum(row["outcome"] == name for row in rows) for name in ("won", "lost", "tied", "invalid")}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    found = [f"judgments {len(rows)}{f' ({told})' if told else ''}"]
    for row in rows:
        who = row["judge"] if row["annotator"] is None else f"{row['judge']} {row['annotator']}"
        remarks = [
            None if row["is_current"] else "older text",
            "not in this rating" if row["is_counted"] is False and row["is_current"] else None,
        ]
        told = "".join(f"  [{remark}]" for remark in remarks if remark)
        found.append(
            f"  round {row['round'] if row['round'] is not None else '-'}  {row['outcome']:<7}  "
            f"against {_safe(row['opponent_id'])}  shown {row['shown']}, verdict {row['verdict']}  "
            f"{_safe(who)} {row['schedule']}{told}"
        )
        if row["reason"]:
            found += _indented(row["reason"], 200, "      reason: ")
        for ballot in row["ballots"]:
            what = ballot["verdict"] if ballot["score"] is None else f"grade {ballot['score']:g}"
            which = f"vote {ballot['vote']}" if ballot["vote"] else _safe(ballot["first_id"])
            found.append(f"      {which}: {what}  call {ballot['call_id'] or '-'}")
        if row["call_ids"] and not row["ballots"]:
            found.append(f"      call {row['call_ids'][0]}")
    return found


def _byes(rows: list[dict[str, Any]]) -> list[str]:
    groups: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        groups.setdefault((row["judge"], row["schedule"]), []).append(row["round"])
    return [
        f"  sat out round {', '.join(map(str, sorted(rounds)))}  {_safe(judge)} {schedule}"
        for (judge, schedule), rounds in groups.items()
    ]


def _calls(calls: dict[str, list[dict[str, Any]]], limit: int | None) -> list[str]:
    found = [f"calls     {len(calls)}"]
    for call_id, attempts in calls.items():
        if not attempts:
            found.append(f"  {call_id}  not in the call log (imported, or still in a running job's journal)")
        for row in attempts:
            tokens = (
                f"{row['tokens_in']} tokens in, {row['tokens_out']} out, " if row["tokens_in"] is not None else ""
            )
            found.append(
                f"  {call_id}  attempt {row['attempt']}  {_safe(row['endpoint'])}  "
                f"{_safe(row['served_model'] or row['model'])}  {row['prompt_version']}  "
                f"{tokens}finish {row['finish_reason']}{'' if row['error'] is None else '  FAILED ' + row['error']}"
            )
            found += _indented(row["reply"], limit, "      | ")
    return found


def _indented(text: str | None, limit: int | None, margin: str = "          ") -> list[str]:
    shown = _safe(text or "", keep="\n\t")
    if limit and len(shown) > limit:
        # The verdict stands at the end of a reply, so the middle is what can be spared.
        left = f"\n[... {len(shown) - limit} characters left out, --full shows them ...]\n"
        shown = shown[: limit // 2] + left + shown[-(limit - limit // 2) :]
    return [margin + line for line in shown.splitlines()]


def _safe(text: str | None, keep: str = "") -> str:
    """Show control characters as escapes: a reply must not drive the terminal."""
    return "".join(c if c in keep or (c.isprintable() or c == " ") else f"\\x{ord(c):02x}" for c in (text or ""))
