"""`saber deduplicate` and `saber originality`: what lands, what the marts drop, and that it can be undone."""

import json

from homes import Home

TEXT = "A farmer plants {n} apple trees in rows of equal length and counts the trees on the border of the field."


def test_copies_leave_the_benchmark_and_come_back(tmp_path):
    home = Home(tmp_path, "[corpus]\nsource_priority = ['official', 'forum']\n")
    home.problems(
        [
            {"problem_id": "forum/1", "statement": TEXT.format(n=36), "solution": "Draw the field."},
            {"problem_id": "official/1", "statement": TEXT.format(n=36), "solution": "Draw the field."},
            {"problem_id": "forum/2", "statement": TEXT.format(n=49), "solution": "Draw another field."},
        ]
    )
    assert home.saber("ingest", "sample", "--json").returncode == 0
    result = home.saber("deduplicate", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["landed"] > 0
    assert json.loads(home.saber("deduplicate", "--json").stdout)["landed"] == 0
    marts = ("+duplicates", "+near_duplicates", "+corpus_eligibility")
    build = home.dbt("build", "--select", *marts, "--indirect-selection", "buildable")
    assert build.returncode == 0, build.stdout
    groups = home.rows("select problem_id, is_survivor from analysis.duplicates where source <> 'sample' order by 1")
    assert groups == [("forum/1", False), ("official/1", True)]
    assert home.rows("select reason from signals.corpus_eligibility where problem_id = 'forum/1'") == [
        ("copy of another problem",)
    ]
    near = home.rows("select first_id, second_id, kind from analysis.near_duplicates where first_id like 'forum%'")
    assert near == [("forum/2", "official/1", "renumbered")]
    home.saber("retract", "--source", "official")
    home.dbt("build", "--select", "stg_retracted_sources", "stg_problems", "stg_duplicates")
    assert home.rows("select count(*) from staging.stg_duplicates where problem_id = 'forum/1'") == [(0,)]


def test_copies_with_different_answers_show_both_and_are_counted(tmp_path):
    home = Home(tmp_path, "[corpus]\nsource_priority = ['official', 'forum']\n")
    answers = {
        "official/1": "45752",
        "forum/1": "4, 5",
        "official/2": "$\\frac12$",
        "forum/2": "0.5",
        "forum/3": None,
    }
    texts = {name: TEXT.format(n=36 if name[-1] == "1" else 49) for name in answers}
    home.problems([{"problem_id": name, "statement": texts[name], "answer": answers[name]} for name in answers])
    assert home.saber("ingest", "sample", "--json").returncode == 0
    assert home.saber("deduplicate").returncode == 0
    build = home.dbt("build", "--select", "+source_quality", "--indirect-selection", "buildable")
    assert build.returncode == 0, build.stdout
    found = home.rows(
        "select problem_id, answer, survivor_answer, answers_differ from analysis.duplicates "
        "where source <> 'sample' order by 1"
    )
    assert found == [
        ("forum/1", "4, 5", "45752", True),
        ("forum/2", "0.5", "$\\frac12$", False),
        ("forum/3", None, "$\\frac12$", False),
        ("official/1", "45752", "45752", False),
        ("official/2", "$\\frac12$", "$\\frac12$", False),
    ]
    counted = home.rows(
        "select source, n_copies, n_copies_answers_differ from analysis.source_quality "
        "where source <> 'sample' order by 1"
    )
    assert counted == [("forum", 3, 1), ("official", 0, 0)]


def test_originality_flags_name_the_overlapping_text(tmp_path):
    home = Home(tmp_path)
    home.problems(
        [
            {"problem_id": "own/1", "statement": TEXT.format(n=36)},
            {"problem_id": "own/2", "statement": "Prove $1 < 2$."},
        ]
    )
    reference = tmp_path / "reference.jsonl"
    reference.write_text(json.dumps({"problem": TEXT.format(n=36) + " How many are there?"}) + "\n")
    result = home.saber("originality", str(reference), "--name", "old contests", "--json")
    assert result.returncode == 0, result.stderr
    flags = json.loads(result.stdout)["flags"]
    assert [flag["problem_id"] for flag in flags] == ["own/1"]
    assert "apple trees in rows of equal length" in flags[0]["overlap"]
