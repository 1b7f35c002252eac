"""The questions the report asks; names in braces are relations, filled in for the variant at hand."""

from __future__ import annotations

COUNTS = """
select
    (select count(*) from {benchmark_queries}) as n_queries,
    count(*) as n_candidates,
    count(relevance) as n_judged,
    list(distinct judge order by judge) filter (judge is not null) as judges,
    list(distinct schedule order by schedule) filter (schedule is not null) as schedules
from {benchmark_qrels}
"""
CORPUS = """
select count(*) as n_problems, count(*) filter (is_eligible) as n_eligible from {signals_corpus_eligibility}
"""
ABLATION = """
with
    judged as (select query_id, document_id, class, relevance from {benchmark_qrels} where relevance is not null),
    ranked as (
        select
            query_id, class, row_number() over (partition by query_id order by relevance desc, document_id) as rank
        from judged
    ),
    ranks as (select unnest(range(1, coalesce((select max(rank) from ranked), 0) + 1)) as rank),
    sizes as (select class, count(*) as n from ranked group by class)
select sizes.class, ranks.rank, count(ranked.rank) / any_value(sizes.n) as share
from sizes
cross join ranks
left join ranked on ranked.class = sizes.class and ranked.rank <= ranks.rank
group by sizes.class, ranks.rank
order by sizes.class, ranks.rank
"""
CLASSES = """
with
    ranked as (
        select
            *, row_number() over (partition by query_id order by relevance desc nulls last, document_id) as rank
        from {benchmark_qrels}
    ),
    firsts as (select count(*) as n from ranked where rank <= 10 and relevance is not null)
select
    class,
    count(*) as n_candidates,
    avg(relevance) as mean_relevance,
    count(*) filter (rank <= 10 and relevance is not null) / nullif(any_value(firsts.n), 0) as share_of_ten
from ranked
cross join firsts
group by class
order by mean_relevance desc nulls last, class
"""
COMPOSITION = """
with
    domains as (select domain, min(position) as position from {ontology_domains} group by domain),
    corpus as (select domain, sum(weight) as n from {signals_problem_domains} group by domain),
    queries as (
        select domain, sum(weight) as n
        from {benchmark_queries} as queries
        inner join {signals_problem_domains} as bears on bears.problem_id = queries.query_id
        group by domain
    ),
    candidates as (
        select domain, sum(weight) as n
        from {benchmark_candidates} as candidates
        inner join {signals_problem_domains} as bears on bears.problem_id = candidates.document_id
        group by domain
    )
select
    domains.domain,
    coalesce(corpus.n, 0) / (select sum(n) from corpus) as corpus,
    coalesce(queries.n, 0) / (select sum(n) from queries) as queries,
    coalesce(candidates.n, 0) / (select sum(n) from candidates) as candidates
from domains
left join corpus using (domain)
left join queries using (domain)
left join candidates using (domain)
order by domains.position
"""
SOURCES = """
with
    licences as (
        select source, string_agg(licence, ', ' order by licence) as licence
        from (select distinct source, coalesce(licence, 'not stated') as licence from {staging_stg_problems})
        group by source
    ),
    counted as (
        select source, sum(n_problems) as n_problems, sum(n_problems) filter (state = 'eligible') as n_eligible,
            string_agg(state || ': ' || n_problems, ', ' order by n_problems desc, state) filter (state <> 'eligible')
                as left_out
        from {analysis_corpus_counts}
        group by source
    )
select counted.*, licences.licence from counted left join licences using (source) order by n_problems desc, source
"""
CALLS = """
select purpose, model, served_model, prompt_version, n_calls, n_attempts, n_good, n_failed, n_truncated, tokens_in,
    tokens_out, median_latency_s, failures
from {analysis_call_audit}
order by purpose, model, prompt_version
"""
FAILURES = """
select purpose, model, outcome, sum(n_attempts)::bigint as n_attempts
from {analysis_call_failures}
where outcome <> 'good'
group by all
order by n_attempts desc, purpose, outcome
limit 30
"""
STALE = """
select landed_table, reason, count(*) as n_rows from {analysis_stale_rows} group by all order by n_rows desc, 1, 2
"""
