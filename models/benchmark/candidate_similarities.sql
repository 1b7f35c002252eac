-- The similarities of the chosen candidates once more, by closure join, list functions and a scalar function:
-- the second path that the pair kernels are held to (analysis.similarity_disagreements).
with
    pairs as (select query_id, document_id, class from {{ ref("candidates") }}),

    topics as (select problem_id, topic_id from {{ ref("problem_topics") }}),

    topic_similarity as (
        select topic_id, other_topic_id, similarity
        from {{ ref("topic_similarity") }}
        union all
        select other_topic_id as topic_id, topic_id as other_topic_id, similarity
        from {{ ref("topic_similarity") }}
        union all
        select distinct topic_id, topic_id as other_topic_id, 1.0 as similarity
        from topics
    ),

    crossed as (
        select
            pairs.query_id,
            pairs.document_id,
            t.topic_id,
            u.topic_id as other_topic_id,
            coalesce(topic_similarity.similarity, 0.0) as similarity
        from pairs
        inner join topics as t on t.problem_id = pairs.query_id
        inner join topics as u on u.problem_id = pairs.document_id
        left join
            topic_similarity
            on topic_similarity.topic_id = t.topic_id
            and topic_similarity.other_topic_id = u.topic_id
    ),

    row_best as (select query_id, document_id, topic_id, max(similarity) as best from crossed group by all),

    column_best as (
        select query_id, document_id, other_topic_id as topic_id, max(similarity) as best from crossed group by all
    ),

    row_maxima as (
        select query_id, document_id, list(best order by topic_id) as maxima
        from row_best
        group by query_id, document_id
    ),

    column_maxima as (
        select query_id, document_id, list(best order by topic_id) as maxima
        from column_best
        group by query_id, document_id
    ),

    best_match_average as (
        select
            row_maxima.query_id,
            row_maxima.document_id,
            best_match_average(row_maxima.maxima, column_maxima.maxima) as topic_similarity
        from row_maxima
        inner join column_maxima using (query_id, document_id)
    ),

    tokens as (select problem_id, tokens from {{ ref("summary_tokens") }}),

    token_overlaps as (
        select
            pairs.query_id,
            pairs.document_id,
            len(list_intersect(q.tokens, d.tokens)) as n_common,
            len(q.tokens) + len(d.tokens) - n_common as n_union
        from pairs
        inner join tokens as q on q.problem_id = pairs.query_id
        inner join tokens as d on d.problem_id = pairs.document_id
    )

select
    pairs.query_id,
    pairs.document_id,
    pairs.class,
    best_match_average.topic_similarity,
    token_overlaps.n_common / nullif(token_overlaps.n_union, 0) as summary_similarity
from pairs
left join best_match_average using (query_id, document_id)
left join token_overlaps using (query_id, document_id)
