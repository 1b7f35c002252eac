-- The similarities of the chosen candidates once more, by closure join, list functions and a scalar function:
-- the second path that the pair kernels are held to (analysis.similarity_disagreements).
with
    pairs as (select query_id, document_id, class from {{ ref("candidates") }}),

    topics as (select problem_id, topic_id from {{ ref("problem_topics") }}),

    crossed as (
        select pairs.query_id, pairs.document_id, t.topic_id, u.topic_id as other_topic_id
        from pairs
        inner join topics as t on t.problem_id = pairs.query_id
        inner join topics as u on u.problem_id = pairs.document_id
    ),

    topic_pairs as (select distinct topic_id, other_topic_id from crossed where topic_id <> other_topic_id),

    information as (select topic_id, information_content from {{ ref("topic_information_content") }}),

    -- Along a root path information content never falls, so the common ancestor with most of it is the lowest one.
    shared as (
        select
            topic_pairs.topic_id, topic_pairs.other_topic_id, max(ancestor.information_content) as information_content
        from topic_pairs
        inner join {{ ref("topic_closure") }} as of_t on of_t.descendant_id = topic_pairs.topic_id
        inner join
            {{ ref("topic_closure") }} as of_u
            on of_u.descendant_id = topic_pairs.other_topic_id
            and of_u.ancestor_id = of_t.ancestor_id
        inner join information as ancestor on ancestor.topic_id = of_t.ancestor_id
        group by topic_pairs.topic_id, topic_pairs.other_topic_id
    ),

    similarities as (
        select
            shared.topic_id,
            shared.other_topic_id,
            {{ lin("shared.information_content", "t.information_content", "u.information_content") }} as similarity
        from shared
        inner join information as t on t.topic_id = shared.topic_id
        inner join information as u on u.topic_id = shared.other_topic_id
    ),

    compared as (
        select
            crossed.*,
            case
                when crossed.topic_id = crossed.other_topic_id then 1.0 else coalesce(similarities.similarity, 0.0)
            end as similarity
        from crossed
        left join similarities using (topic_id, other_topic_id)
    ),

    row_best as (select query_id, document_id, topic_id, max(similarity) as best from compared group by all),

    column_best as (
        select query_id, document_id, other_topic_id as topic_id, max(similarity) as best from compared group by all
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
