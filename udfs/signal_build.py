"""What the Python models of the signals share: kernel inputs from relations, and blocks that survive a kill.

Problems and topic sets bear stable numbers. While a corpus grows under ``signals.growth = "frozen"`` the numbers of
problems that left are holes: such a problem has no topic set here, and its token set stays where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.block_store import BlockStore, NumberedBatches
from udfs.bma_space import SetSpace
from udfs.jaccard_index import TokenSetIndex
from udfs.relations import domain_membership, set_space, token_set_index
from udfs.settings import setting

Relation = duckdb.DuckDBPyRelation

SAMPLED_ROWS = 512
"""Rows from which the share of qualifying pairs is read: with all their partners 0.4 % of 283,000 problems' pairs."""


@dataclass(frozen=True)
class Limits:
    """Bytes that a kernel's arrays may take, and its threads."""

    memory: int
    workers: int


def limits(settings: Relation) -> Limits:
    """Read ``signals.memory_mib`` and ``signals.workers``."""
    return Limits(setting(settings, "signals.memory_mib") << 20, setting(settings, "signals.workers"))


def topic_space(topics: Relation, information: Relation, sets: Relation, memory: int) -> SetSpace:
    """Prepare the topic sets.

    Parameters
    ----------
    topics, information, sets : Relation
        The models topics, topic_information_content and topic_sets.
    memory : int
        Bytes.
    """
    joined = topics.set_alias("topics").join(
        information.set_alias("information"), "topics.topic_id = information.topic_id"
    )
    return set_space(
        joined.project("topics.topic_id, parent_id, information_content").to_arrow_table(),
        sets.project("set_index, topics, n_problems").to_arrow_table(),
        memory,
    )


def summary_index(tokens: Relation, memory: int, classes: npt.NDArray[np.int32] | None = None) -> TokenSetIndex:
    """Prepare the token sets of the model token_sets."""
    return token_set_index(tokens.project("problem_index, tokens").to_arrow_table(), classes, memory)


def threshold(thresholds: Relation, signal: str) -> float | None:
    """Threshold in force of one signal, from the model signal_thresholds; None where there is none."""
    rows = thresholds.filter(f"signal = '{signal}'").project("threshold").fetchall()
    return rows[0][0] if rows else None


@dataclass(frozen=True)
class Problems:
    """Eligible problems by number.

    Attributes
    ----------
    set_of_problem : int32 array, shape (n_numbers,)
        Topic set of each; -1 for the number of a problem that left.
    text_of_problem : int64 array, shape (n_numbers,)
        Equal for problems with equal texts.
    table : Table
        Columns problem_id and problem_index, ascending by number, without holes.
    """

    set_of_problem: npt.NDArray[np.int32]
    text_of_problem: npt.NDArray[np.int64]
    table: pa.Table

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """Numbers of the eligible problems, ascending."""
        return np.flatnonzero(self.set_of_problem >= 0)

    def membership(self, bears: Relation, domains: list[str]) -> npt.NDArray[np.bool_]:
        """Which problem bears which of the domains, shape (n_numbers, n_domains), from problem_domains."""
        borne = bears.project("problem_id, domain").to_arrow_table()
        membership = np.zeros((len(self.set_of_problem), len(domains)), dtype=np.bool_)
        membership[self.numbers] = domain_membership(self.table, borne, domains)
        return membership


def problems(problem_sets: Relation) -> Problems:
    """Read the model problem_topic_sets."""
    columns = "problem_id, problem_index, set_index, dense_rank() over (order by content_hash) as text"
    table = problem_sets.project(columns).order("problem_index").to_arrow_table()
    numbers = table["problem_index"].to_numpy()
    n_numbers = int(numbers[-1]) + 1 if len(numbers) else 0
    sets = np.full(n_numbers, -1, dtype=np.int32)
    sets[numbers] = table["set_index"].to_numpy()
    texts = -1 - np.arange(n_numbers, dtype=np.int64)  # a hole equals nothing
    texts[numbers] = table["text"].to_numpy()
    return Problems(sets, texts, table.select(["problem_id", "problem_index"]))


def domain_names(domains: Relation) -> list[str]:
    """Domains in their order, from the model domains."""
    rows = domains.project("domain, position").distinct().order("position, domain").fetchall()
    return list(dict.fromkeys(row[0] for row in rows))


@dataclass(frozen=True)
class Covered:
    """Numbers below these have all their pairs in the tables already."""

    n_problems: int = 0
    n_sets: int = 0


def covered(dbt: Any, session: duckdb.DuckDBPyConnection) -> Covered:
    """Read what the last finished build covered (model pair_generations); nothing unless rows are kept."""
    if not dbt.is_incremental:
        return Covered()
    generations = f'"{dbt.this.database}"."{dbt.this.schema}"."pair_generations"'
    row = session.query(f"select n_problems, n_sets from {generations} order by generation desc limit 1").fetchall()
    return Covered(*row[0])


def resumable(
    dbt: Any,
    session: duckdb.DuckDBPyConnection,
    schema: pa.Schema,
    depends_on: list[Any],
    compute: Callable[[int], NumberedBatches],
    seen: list[pa.RecordBatch] | None = None,
) -> pa.RecordBatchReader:
    """Stream a model's batches; its finished blocks are kept in the home's ``blocks/`` until the pairs are complete.

    Parameters
    ----------
    dbt, session
        As handed to the model.
    schema : Schema
    depends_on : list
        Everything the blocks depend on: arrays and things with a plain text.
    compute : callable
        First block -> (block number, batch) from there on.
    seen : list, optional
        Receives every batch as it passes, so that `compute` can look at those before its first.
    """
    store = BlockStore(blocks_folder(session, dbt.this), fingerprint(*depends_on), schema)
    batches = store.resume(compute)
    return pa.RecordBatchReader.from_batches(schema, batches if seen is None else _noted(batches, seen))


def _noted(batches: Iterator[pa.RecordBatch], seen: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        seen.append(batch)
        yield batch


def blocks_folder(session: duckdb.DuckDBPyConnection, this: Any) -> Path:
    """Folder of a model's blocks, beside the database file."""
    rows = session.query(f"select path from duckdb_databases() where database_name = '{this.database}'").fetchall()
    return Path(rows[0][0]).parent.joinpath("blocks", this.schema, this.identifier)


def fingerprint(*parts: Any) -> str:
    """Hash arrays by their bytes and anything else by its text, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else str(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def drawn(rows: Relation, number: str, name: str, seed: int, n_rows: int = SAMPLED_ROWS) -> npt.NDArray[np.int64]:
    """Numbers of up to `n_rows` rows, drawn by the hash of the seed and a stable name.

    Parameters
    ----------
    rows : Relation
    number, name : str
        SQL expressions: the number, and what does not change when numbers do.
    seed : int
    n_rows : int
    """
    draws = rows.project(f"{number} as number, md5(concat_ws('|', '{seed}', {name})) as draw, {name} as name")
    chosen = draws.order("draw, name").limit(n_rows).project("number").to_arrow_table()
    numbers: npt.NDArray[np.int64] = chosen["number"].to_numpy().astype(np.int64)
    return numbers


def is_stored(density: Relation) -> bool:
    """Say whether pairs are stored, from the model pair_density."""
    return bool(density.filter("storage = 'streamed'").count("*").fetchall()[0][0] == 0)
