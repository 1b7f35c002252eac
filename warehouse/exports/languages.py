"""Language codes: two letters in the corpus, ``eng-Latn`` in task files."""

from __future__ import annotations

from warehouse.collection import Collection

_CODES = {
    "ar": "ara-Arab", "bg": "bul-Cyrl", "cs": "ces-Latn", "de": "deu-Latn", "el": "ell-Grek", "en": "eng-Latn",
    "es": "spa-Latn", "fa": "fas-Arab", "fr": "fra-Latn", "he": "heb-Hebr", "hr": "hrv-Latn", "hu": "hun-Latn",
    "it": "ita-Latn", "ja": "jpn-Jpan", "ko": "kor-Hang", "nl": "nld-Latn", "pl": "pol-Latn", "pt": "por-Latn",
    "ro": "ron-Latn", "ru": "rus-Cyrl", "sr": "srp-Cyrl", "tr": "tur-Latn", "uk": "ukr-Cyrl", "vi": "vie-Latn",
    "zh": "zho-Hans",
}  # fmt: skip


def language_codes(collection: Collection) -> list[tuple[str, str]]:
    """Return (``en``, ``eng-Latn``) of every language the problems name; English when they name none known."""
    named = {str(record["language"] or "").lower() for record in collection.problems.values()}
    return [(code, _CODES[code]) for code in sorted(named) if code in _CODES] or [("en", _CODES["en"])]
