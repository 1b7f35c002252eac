"""Imports: annotations, judgments, relevances and runs made elsewhere, landed with their provenance.

:mod:`~warehouse.imports.reading` turns files of any supported layout into records, one module a kind checks them, and
:mod:`~warehouse.imports.job` lands what is new, whole groups at a time.
"""
