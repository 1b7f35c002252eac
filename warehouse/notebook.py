"""What a notebook needs: the snapshot, read-only, and figures that say so when there is nothing to draw.

::

    from warehouse import figures
    from warehouse.notebook import Snapshot

    snapshot = Snapshot()
    table = snapshot.table("select system, overall from evaluation.leaderboard")
    snapshot.draw(figures.intervals, table, "system", "overall", "nDCG@10", remedy="saber retrieve && dbt build")
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from warehouse.errors import SaberError
from warehouse.figures.style import save
from warehouse.settings import home_folder

# One name a run: its system, with what tells it apart where several runs of a setting share it.
_LABELS = """
create temp view run_labels as
with
    named as (
        select
            run_id, benchmark, setting, scope, system,
            replace(replace(replace(run_id, system || '.', ''), setting || '.', ''), scope || '.', '') as rest,
            case
                when
                    coalesce(params ->> '$.query_prefix', '') = ''
                    and coalesce(params ->> '$.document_prefix', '') = ''
                    and coalesce(params ->> '$.instruction', '') = ''
                then 'plain'
                else 'prefixed'
            end as kind
        from evaluation.systems
    ),

    counted as (
        select
            *,
            count(*) over (partition by benchmark, setting, scope, system) as n_alike,
            count(*) over (partition by benchmark, setting, scope, system, kind) as n_of_kind
        from named
    )

select
    run_id,
    case
        when n_alike = 1 then system
        when n_of_kind = 1 then system || ' (' || kind || ')'
        else system || ' (' || rest || ')'
    end as label
from counted
"""


@dataclass(frozen=True)
class Drawing:
    """A figure as the last value of a cell; `save` writes it for a paper."""

    figure: Any

    def _repr_png_(self) -> bytes:
        target = io.BytesIO()
        save(self.figure, target, format="png", dpi=150)
        return target.getvalue()

    def save(self, path: Path | str) -> None:
        """Write the figure; the ending says the format (pdf, svg, png)."""
        save(self.figure, path)


@dataclass(frozen=True)
class Missing:
    """In place of a figure: what is missing, and the command that lands it."""

    remedy: str

    def _repr_markdown_(self) -> str:
        return f"**Nothing to draw in this snapshot yet.** {self.remedy}"

    def __repr__(self) -> str:
        return f"Nothing to draw in this snapshot yet. {self.remedy}"


class Snapshot:
    """The snapshot of a warehouse home, read-only; nothing else of the home is opened.

    Parameters
    ----------
    home
        Warehouse home; ``SABER_HOME``, else ``data/``.

    Raises
    ------
    SaberError
        When there is no snapshot yet.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        path = home_folder(home) / "snapshot.duckdb"
        if not path.exists():
            raise SaberError(f"{path} does not exist yet. Make it: make build (or saber build)")
        self.connection = duckdb.connect(str(path), read_only=True)
        self.drawn: list[Drawing | Missing] = []
        with _told():
            self.connection.execute(_LABELS)

    @property
    def benchmark(self) -> str:
        """Name of the benchmark built here."""
        return str(self.table("select benchmark from evaluation.benchmarks where origin = 'built'")[0, 0])

    def table(self, sql: str, *parameters: Any) -> pl.DataFrame:
        """Run a query and return its rows."""
        with _told():
            return pl.DataFrame(self.connection.sql(sql, params=list(parameters) or None).to_arrow_table())

    def draw(
        self, function: Callable[..., Any], table: pl.DataFrame, *arguments: Any, remedy: str, **options: Any
    ) -> Drawing | Missing:
        """Return the figure of a table, or what to do when the table has no rows."""
        shown = Drawing(function(table, *arguments, **options)) if table.height else Missing(remedy)
        self.drawn.append(shown)
        return shown


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        reason = str(error).splitlines()[0]
        raise SaberError(
            f"The query asks for what the snapshot lacks: {reason}. A snapshot older than this package: dbt build"
        ) from error
