"""The one error a user sees: a clear sentence and a remedy, printed without a traceback."""


class SaberError(Exception):
    """A condition the user can act on; the message names the file, rows or ids and the remedy."""
