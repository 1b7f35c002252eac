"""From the warehouse's relations (Arrow tables) to the arrays the pair kernels work on.

Topics are numbered in code point order of their ids, so that a set's topics stand in the same order here and in
SQL: similarities are summed in that order on both paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.bma_space import SetSpace
from udfs.information_content import root_paths
from udfs.jaccard_index import TokenSetIndex
from udfs.topic_sets import TopicSets


@dataclass(frozen=True)
class TopicArrays:
    """Topics as numbers.

    Attributes
    ----------
    topic_ids : string array, shape (n_topics,)
        Topic id of each number, ascending.
    ancestors : int32 array, shape (n_topics, max_depth + 1)
        Root path of each topic, -1 padded.
    information_content : float64 array, shape (n_topics,)
        In nats, NaN where a topic has no annotation.
    """

    topic_ids: pa.Array
    ancestors: npt.NDArray[np.int32]
    information_content: npt.NDArray[np.float64]

    def numbers(self, topic_ids: pa.Array) -> npt.NDArray[np.int32]:
        """Number of each topic id.

        Raises
        ------
        ValueError
            For ids that are no topics; the message names some.
        """
        found = pc.index_in(topic_ids, value_set=self.topic_ids)
        if found.null_count:
            unknown = pc.unique(topic_ids.filter(pc.is_null(found))).to_pylist()
            raise ValueError(f"{len(unknown)} topic ids are not in the ontology: {unknown[:5]}. Rebuild the topics.")
        numbers: npt.NDArray[np.int32] = found.to_numpy(zero_copy_only=False).astype(np.int32)
        return numbers


def topic_arrays(topics: pa.Table) -> TopicArrays:
    """Number topics.

    Parameters
    ----------
    topics : Table
        Columns topic_id, parent_id (NULL for the root) and information_content (NULL without annotation); any order.
    """
    ordered = topics.sort_by("topic_id").combine_chunks()
    ids = _flat(ordered["topic_id"])
    parents = pc.fill_null(pc.index_in(_flat(ordered["parent_id"]), value_set=ids), -1)
    information = pc.cast(ordered["information_content"], pa.float64()).to_numpy()
    paths = root_paths(parents.to_numpy(zero_copy_only=False).astype(np.int64))
    return TopicArrays(ids, paths, np.asarray(information, dtype=np.float64))


def topic_sets(sets: pa.Table, topics: TopicArrays) -> TopicSets:
    """Topic sets as numbers.

    Parameters
    ----------
    sets : Table
        Columns set_index (dense, from 0), topics (list of topic ids, ascending) and n_problems; any order.
    """
    ordered = sets.sort_by("set_index").combine_chunks()
    lists = _flat(ordered["topics"])
    starts = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy(zero_copy_only=False))])
    return TopicSets(
        starts.astype(np.int64),
        topics.numbers(lists.flatten()),
        ordered["n_problems"].to_numpy().astype(np.int64),
    )


def set_space(topics: pa.Table, sets: pa.Table, memory_budget: int = 1 << 30) -> SetSpace:
    """Prepare topic sets for the best-match-average kernel; see `topic_arrays` and `topic_sets` for the tables."""
    arrays = topic_arrays(topics)
    return SetSpace(arrays.ancestors, arrays.information_content, topic_sets(sets, arrays), memory_budget)


def domain_membership(problems: pa.Table, bears: pa.Table, domains: list[str]) -> npt.NDArray[np.bool_]:
    """Which problem bears which domain.

    Parameters
    ----------
    problems : Table
        Column problem_id, in the order of the problem index.
    bears : Table
        Columns problem_id and domain; rows of other domains are left out.
    domains : list of str
        Domains in the order of the columns.

    Returns
    -------
    bool array, shape (n_problems, n_domains)
    """
    row = pc.index_in(_flat(bears["problem_id"]), value_set=_flat(problems["problem_id"]))
    column = pc.index_in(_flat(bears["domain"]), value_set=pa.array(domains, pa.string()))
    known = pc.and_(pc.is_valid(row), pc.is_valid(column)).to_numpy(zero_copy_only=False)
    membership = np.zeros((problems.num_rows, len(domains)), dtype=np.bool_)
    membership[
        pc.fill_null(row, 0).to_numpy(zero_copy_only=False)[known],
        pc.fill_null(column, 0).to_numpy(zero_copy_only=False)[known],
    ] = True
    return membership


def token_set_index(
    tokens: pa.Table, classes: npt.NDArray[np.int32] | None = None, memory_budget: int = 1 << 30
) -> TokenSetIndex:
    """Prepare token sets for the Jaccard kernel.

    Parameters
    ----------
    tokens : Table
        Columns problem_index (dense, from 0) and tokens (list of distinct strings); any order.
    classes, memory_budget
        See `udfs.jaccard_index.TokenSetIndex`.
    """
    ordered = tokens.sort_by("problem_index").combine_chunks()
    lists = _flat(ordered["tokens"])
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    encoded = pc.dictionary_encode(lists.flatten())
    indices = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return TokenSetIndex(indptr, indices, classes=classes, memory_budget=memory_budget)


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column
