"""The review list in SQL and in `saber source review`: the same open items, without those of older texts."""

from __future__ import annotations

import json
from pathlib import Path

from homes import Home

from warehouse.identity import content_hash
from warehouse.review import land_items, open_items, review_item, settle


def test_the_view_and_the_command_list_the_same_open_items(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.problems([{"problem_id": f"s/{n}", "statement": f"Text {n}."} for n in (1, 2)])
    home.problems([{"problem_id": "gone/1"}])
    home.landing.append("tombstones", [{"source": "gone", "action": "retract"}], "test")
    seen = {n: content_hash(f"Text {n}.", f"Solution of s/{n}.") for n in (1, 2)}
    items = [
        review_item("s", "s/1", "complete", "solution incomplete", "It breaks off.", seen[1], call_id="c1"),
        review_item("s", "s/1", "complete", "statement incomplete", "No figure.", seen[1]),
        review_item("s", "s/2", "complete", "solution incomplete", "Of an older text.", "0" * 32),
        review_item("s", "a.md", "segment", "counts differ", "3 and 2", "1" * 32, (4, 9)),
        review_item("gone", "gone/1", "translate", "translation_differs", "withdrawn", None),
    ]
    assert land_items(home.landing, items, "j1") == 5
    assert land_items(home.landing, items, "j2") == 0  # a repeat lands nothing
    assert settle(home.landing, ["s/1", "nobody"], "j3", "statement incomplete") == ["s/1"]
    expected = [("a.md", "counts differ", 4, 9), ("s/1", "solution incomplete", None, None)]
    listed = json.loads(home.saber("source", "review", "--json").stdout)
    assert [tuple(row[k] for k in ("document", "reason", "first_line", "last_line")) for row in listed] == expected
    build = home.dbt("build", "--select", "+review_list", "--indirect-selection", "buildable")
    assert build.returncode == 0, build.stdout
    sql = "select document, reason, first_line, last_line from analysis.review_list order by 1"
    assert home.rows(sql) == expected
    assert home.rows("select statement, call_id from analysis.review_list where problem_id is not null") == [
        ("Text 1.", "c1")
    ]


def test_a_step_that_looks_again_settles_what_it_no_longer_finds(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = [review_item("s", "a.md", "segment", reason, "", None) for reason in ("counts differ", "numbers differ")]
    other = review_item("s", "b.md", "segment", "counts differ", "", None)
    land_items(home.landing, [*first, other], "j1")
    land_items(home.landing, first[:1], "j2", looked_at=[("s", "a.md", "segment")])
    assert sorted((item["document"], item["reason"]) for item in open_items(home.landing)) == [
        ("a.md", "counts differ"),
        ("b.md", "counts differ"),
    ]
