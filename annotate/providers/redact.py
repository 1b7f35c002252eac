"""Keeping secrets out of logs, tables and errors."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

_HIDDEN = "[redacted]"
_SHORTEST = 4
# What looks like a key even when it is not ours: a proxy may echo another one.
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-*]{8,}|(?<=Bearer )[^\s\"',;]{8,}")


class Redactor:
    """Replaces known secrets, and what looks like a key, in any text.

    Parameters
    ----------
    secrets
        Values that must never be shown; ones shorter than four characters are no secrets.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        values = {secret for secret in secrets if len(secret) >= _SHORTEST}
        # The longest first: one secret may be part of another.
        ordered = sorted(values, key=lambda secret: (-len(secret), secret))
        self._secrets = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def error(self, text: str) -> str:
        """Redact what a server or library said."""
        return _KEY_LIKE.sub(_HIDDEN, self.words(text))

    def words(self, text: str) -> str:
        """Redact the model's words: the known secrets alone, since words may look like anything."""
        return self._secrets.sub(_HIDDEN, text) if self._secrets else text

    def __repr__(self) -> str:
        return "Redactor()"


class _LogFilter(logging.Filter):
    """Redacts the lines of the HTTP libraries, which log the URLs they ask."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: set[str] = set()

    def filter(self, line: logging.LogRecord) -> bool:
        line.msg, line.args = Redactor(self.secrets).error(line.getMessage()), ()
        return True


_LOG_FILTER = _LogFilter()


def guard_http_logs(secrets: Iterable[str]) -> None:
    """Keep `secrets` out of what the HTTP libraries log from now on."""
    _LOG_FILTER.secrets.update(secrets)
    for name in ("openai", "openai._base_client", "httpx2", "httpcore2.connection", "httpcore2.http11"):
        logging.getLogger(name).addFilter(_LOG_FILTER)  # adding it twice is adding it once


def url_secrets(url: str) -> set[str]:
    """Return the user, password and query values of a URL, as written and decoded."""
    try:
        parts = urlsplit(url)
        raw = [parts.username or "", parts.password or ""]
    except ValueError:
        return set()
    raw += [value for _, value in parse_qsl(parts.query)]
    raw += [piece.partition("=")[2] for piece in parts.query.split("&")]
    return {value for text in raw for value in (text, unquote(text)) if value}
