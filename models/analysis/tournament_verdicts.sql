-- Recorded tournaments whose query the same judge has also judged exhaustively to the end (an unfinished schedule
-- gives
-- no ranking to compare with), documents numbered within the query.
-- At most 50 queries a judge, drawn by hash: fitting every round of every query takes long.
{% set judge = ["benchmark", "judge", "provider", "model"] %}
with
    asked as (
        select
            {% for column in judge %} judgments.{{ column }}, {% endfor %}
            judgments.schedule,
            query_id,
            round,
            first_id,
            second_id,
            verdict,
            case verdict when 'first' then 1.0 when 'second' then 0.0 else 0.5 end as share
        from {{ ref("stg_judgments") }} as judgments
        inner join
            {{ ref("compared_tournaments") }} as compared
            on {% for column in judge %}
                compared.{{ column }} is not distinct from judgments.{{ column }} and
            {% endfor %}
            compared.schedule is not distinct from judgments.schedule and compared.variant = judgments.variant
        where judgments.kind = 'pair' and judgments.vote = 0
    ),

    verdicts as (select * from asked where verdict <> 'invalid'),

    asked_pairs as (
        select
            {{ judge | join(", ") }},
            query_id,
            count(distinct(least(first_id, second_id), greatest(first_id, second_id))) as n_pairs
        from asked
        where schedule = 'exhaustive'
        group by {{ judge | join(", ") }}, query_id
    ),

    documents as (
        select
            {{ judge | join(", ") }},
            query_id,
            document_id,
            row_number() over (partition by {{ judge | join(", ") }}, query_id order by document_id) - 1 as number,
            count(*) over (partition by {{ judge | join(", ") }}, query_id) as n_documents
        from
            (
                select distinct {{ judge | join(", ") }}, query_id, unnest([first_id, second_id]) as document_id
                from asked
                where schedule = 'exhaustive'
            )
    ),

    queries as (
        select {{ judge | join(", ") }}, query_id, n_documents
        from (select distinct {{ judge | join(", ") }}, query_id, n_documents from documents) as judged
        where
            n_documents * (n_documents - 1) / 2 = (
                select n_pairs
                from asked_pairs
                where
                    {% for column in judge %}
                        asked_pairs.{{ column }} is not distinct from judged.{{ column }} and
                    {% endfor %}
                    asked_pairs.query_id = judged.query_id
            )
        qualify row_number() over (partition by {{ judge | join(", ") }} order by md5(query_id), query_id) <= 50
    )

select
    {% for column in judge %} verdicts.{{ column }}, {% endfor %}
    verdicts.schedule,
    verdicts.query_id,
    any_value(queries.n_documents) as n_documents,
    count(*) as n_verdicts,
    list(verdicts.round order by first.number, second.number, verdicts.round) as rounds,
    list(first.number order by first.number, second.number, verdicts.round) as firsts,
    list(second.number order by first.number, second.number, verdicts.round) as seconds,
    list(verdicts.share order by first.number, second.number, verdicts.round) as shares
from verdicts
inner join
    queries
    on {% for column in judge %} queries.{{ column }} is not distinct from verdicts.{{ column }} and {% endfor %}
    queries.query_id = verdicts.query_id
inner join
    documents as first
    on {% for column in judge %} first.{{ column }} is not distinct from verdicts.{{ column }} and {% endfor %}
    first.query_id = verdicts.query_id and first.document_id = verdicts.first_id
inner join
    documents as second
    on {% for column in judge %} second.{{ column }} is not distinct from verdicts.{{ column }} and {% endfor %}
    second.query_id = verdicts.query_id and second.document_id = verdicts.second_id
group by {% for column in judge %} verdicts.{{ column }}, {% endfor %} verdicts.schedule, verdicts.query_id
