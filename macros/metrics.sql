{#- Retrieval metrics over any relation of runs and any relation of graded relevances. No macro here knows a model:
    arguments are names of relations or SQL expressions, so that `warehouse.metrics` renders the same text. -#}
{#- An aggregate over the rows of one run and query: its first `depth` documents, best first.
    document: score desc, document_id asc. trec: float32 score desc, document_id desc, as trec_eval orders. -#}
{% macro first_documents(depth, tie_break) -%}
    coalesce(
        min(
            {'key': - score, 'document_id':document_id, 'score':score, 'content_hash':content_hash}, {{ depth }}
        ) filter ({{ tie_break }} <> 'trec'),
        max(
            {
                'key':{{ as_float32("score") }}::double,
                'document_id':document_id,
                'score':score,
                'content_hash':content_hash
            },
            {{ depth }}
        ) filter ({{ tie_break }} = 'trec')
    )
{%- endmacro %}

{#- A score in the single precision that trec_eval keeps; what is too large for it is infinite there, no error. -#}
{% macro as_float32(score) -%}
    coalesce(try_cast({{ score }} as float), (sign({{ score }}) * 'infinity'::double)::float)
{%- endmacro %}

{#- Unfold `first_documents` of (run_id, query_id, first_documents): one row per document with its rank. -#}
{% macro unfolded_documents(heads) -%}
    (
        select
            heads.run_id,
            heads.query_id,
            struct_extract(heads.document, 'document_id') as document_id,
            struct_extract(heads.document, 'score') as score,
            struct_extract(heads.document, 'content_hash') as content_hash,
            heads.rank::integer as rank
        from
            (
                select
                    run_id,
                    query_id,
                    unnest(first_documents) as document,
                    unnest(range(1, len(first_documents) + 1)) as rank
                from {{ heads }}
            ) as heads
    )
{%- endmacro %}

{#- The gain of a relevance; one below 0 (spam, in some collections) gains nothing, as in trec_eval. -#}
{% macro exponential_gain(relevance) -%}(pow(2, greatest(coalesce({{ relevance }}, 0), 0)) - 1) {%- endmacro %}

{% macro linear_gain(relevance) -%} greatest(coalesce({{ relevance }}, 0), 0) {%- endmacro %}

{% macro discount(rank) -%} log2({{ rank }} + 1) {%- endmacro %}

{#- Ideal gains of each (benchmark, query_id) at each cut-off from its relevances, and what a random order of these
    documents gains on average: the mean gain at every rank. -#}
{% macro ideal_gains(relevances, cutoffs) -%}
    (
        with
            graded as (
                select
                    benchmark,
                    query_id,
                    relevance,
                    row_number() over (
                        partition by benchmark, query_id order by relevance desc, document_id
                    ) as position
                from {{ relevances }}
                where relevance is not null
            ),

            pools as (
                -- an unjudged document gains nothing, but a random order may place it first all the same
                select
                    benchmark,
                    query_id,
                    count(*) as n_documents,
                    count(relevance) as n_judged,
                    count(*) filter (relevance > 0) as n_relevant,
                    fsum({{ exponential_gain("relevance") }}) / count(*) as mean_exponential,
                    fsum({{ linear_gain("relevance") }}) / count(*) as mean_linear
                from {{ relevances }}
                group by benchmark, query_id
            ),

            ranks as (select unnest(range(1, (select max(k) + 1 from {{ cutoffs }}))) as rank),

            -- what all places down to one discount, together
            discounts as (
                select first.rank as n_places, fsum(1 / {{ discount("upper.rank") }}) as total
                from ranks as first
                inner join ranks as upper on upper.rank <= first.rank
                group by first.rank
            ),

            ideal as (
                select
                    graded.benchmark,
                    graded.query_id,
                    cutoffs.k,
                    fsum(
                        {{ exponential_gain("graded.relevance") }} / {{ discount("graded.position") }}
                    ) as exponential,
                    fsum({{ linear_gain("graded.relevance") }} / {{ discount("graded.position") }}) as linear
                from graded
                inner join {{ cutoffs }} as cutoffs on graded.position <= cutoffs.k
                group by graded.benchmark, graded.query_id, cutoffs.k
            )

        select
            ideal.benchmark,
            ideal.query_id,
            ideal.k,
            ideal.exponential as ideal_exponential,
            ideal.linear as ideal_linear,
            pools.mean_exponential * discounts.total as random_exponential,
            pools.mean_linear * discounts.total as random_linear,
            pools.n_documents,
            pools.n_judged,
            pools.n_relevant
        from ideal
        inner join pools using (benchmark, query_id)
        inner join discounts on discounts.n_places = least(ideal.k, pools.n_documents)
    )
{%- endmacro %}

{#- Gains of every run and query at each cut-off. `ranked` holds (run_id, query_id, rank, score, relevance) down to
    one rank below the largest cut-off, so that a tie at the cut-off shows. -#}
{% macro discounted_gains(ranked, cutoffs) -%}
    (
        with
            marked as (
                select
                    *,
                    single = lag(single) over places as is_tied_above,
                    single = lead(single) over places as is_tied_below,
                    score = lead(score) over places as is_equal_below
                from (select *, {{ as_float32("score") }} as single from {{ ranked }}) as ranked
                window places as (partition by run_id, query_id order by rank)
            )

        select
            marked.run_id,
            marked.query_id,
            cutoffs.k,
            fsum({{ exponential_gain("marked.relevance") }} / {{ discount("marked.rank") }}) as exponential,
            fsum({{ linear_gain("marked.relevance") }} / {{ discount("marked.rank") }}) as linear,
            count(*) filter (marked.relevance > 0) as n_relevant,
            min(marked.rank) filter (marked.relevance > 0) as first_relevant,
            coalesce(bool_or(marked.is_equal_below) filter (marked.rank = cutoffs.k), false) as is_tied_at_cutoff,
            count(*) filter (marked.is_tied_above or marked.is_tied_below) as n_tied
        from marked
        inner join {{ cutoffs }} as cutoffs on marked.rank <= cutoffs.k
        group by marked.run_id, marked.query_id, cutoffs.k
    )
{%- endmacro %}

{#- Measures of every run and query, one row each. `wanted` holds (run_id, query_id, k) with the ideal gains, `gains`
    what `discounted_gains` gives. A query missing from a run scores 0; one without an ideal gain has no value.
    Measures that know only relevant and not are for benchmarks whose judgments say so (`counts_relevant`). -#}
{% macro measures(wanted, gains) -%}
    (
        with
            joined as (
                select
                    wanted.run_id,
                    wanted.query_id,
                    wanted.k,
                    wanted.counts_relevant,
                    gains.run_id is null as is_missing,
                    coalesce(gains.is_tied_at_cutoff, false) as is_tied_at_cutoff,
                    coalesce(gains.n_tied, 0) as n_tied,
                    coalesce(gains.exponential, 0) / nullif(wanted.ideal_exponential, 0) as ndcg_exp,
                    coalesce(gains.linear, 0) / nullif(wanted.ideal_linear, 0) as ndcg_lin,
                    coalesce(gains.n_relevant, 0) / nullif(wanted.n_relevant, 0) as recall,
                    case when wanted.n_relevant > 0 then (coalesce(gains.n_relevant, 0) > 0)::integer end as hit,
                    case when wanted.n_relevant > 0 then coalesce(1.0 / gains.first_relevant, 0) end as rr
                from {{ wanted }} as wanted
                left join
                    {{ gains }} as gains
                    on gains.run_id = wanted.run_id
                    and gains.query_id = wanted.query_id
                    and gains.k = wanted.k
            ),

            listed as (
                select
                    *,
                    unnest(
                        case
                            when counts_relevant
                            then ['ndcg_exp', 'ndcg_lin', 'recall', 'hit', 'rr']
                            else ['ndcg_exp', 'ndcg_lin']
                        end
                    ) as measure,
                    unnest(
                        case
                            when counts_relevant then [ndcg_exp, ndcg_lin, recall, hit, rr] else [ndcg_exp, ndcg_lin]
                        end
                    ) as value
                from joined
            )

        select
            run_id,
            query_id,
            measure || '@' || k as measure,
            k,
            -- 2^rel of an integer gain in the thousands is no number; rounding hides the order of addition
            case when isfinite(value) then least(1.0, round(value, 12)) end as value,
            is_missing,
            is_tied_at_cutoff,
            n_tied
        from listed
    )
{%- endmacro %}
