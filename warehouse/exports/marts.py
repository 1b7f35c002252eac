"""The marts as Parquet: one file a relation, rows in the order of all their columns, for any other engine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from warehouse.exports.folder import ExportFolder
from warehouse.marts import Marts
from warehouse.settings import Settings

SCHEMAS = ("ontology", "signals", "benchmark", "evaluation", "analysis")


def write(folder: ExportFolder, settings: Settings, schemas: Sequence[str] = SCHEMAS) -> list[tuple[str, int]]:
    """Write every table and view of the schemas; return (relation, rows)."""
    written: list[tuple[str, int]] = []
    with Marts(settings) as marts:
        marts.connection.execute("set preserve_insertion_order = true")
        for schema in schemas:
            for table in marts.relations(schema):
                name = f"{schema}.{table}"
                path = folder.path / schema / f"{table}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                place = str(path).replace("'", "''")
                ordered = f"select * from {marts.name(name)} order by all"
                marts.rows(f"copy ({ordered}) to '{place}' (format parquet, compression zstd)")
                written.append((name, int(marts.value(f"select count(*) from read_parquet('{place}')"))))
        folder.manifest = {
            "saber_export": "parquet",
            "package": f"saber-warehouse {version('saber-warehouse')}",
            "build_id": marts.build_id(),
            "settings_variant": settings.variant,
            "rows": dict(written),
        }
    return written
