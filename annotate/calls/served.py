"""Which model really answers: a change within one job would mix two models' replies under one name."""

from __future__ import annotations

from annotate.providers.base import Reply
from annotate.providers.failures import SERVED_MODEL_CHANGED


class ServedModels:
    """The served model of a job, and the fingerprint of each URL, as first seen.

    All URLs of a profile must serve the same model; builds may differ between machines, so fingerprints are
    compared per URL. A reply that names neither says nothing.
    """

    def __init__(self, on_change: str = "stop") -> None:
        self._accept = on_change == "accept"
        self._fresh: str | None = None
        self._landed: str | None = None
        self._fingerprints: dict[str, str] = {}
        self._change = ""

    def check_landed(self, reply: Reply) -> bool:
        """Say whether a landed reply that this job reuses agrees with what it has been sent.

        Landed replies that differ among themselves are no matter here: they were landed as accepted.
        """
        if self._landed is None:
            self._landed = reply.served_model
        return self._accept or not self._differ(self._fresh, self._landed)

    def check(self, reply: Reply) -> str | None:
        """Return the kind of failure when `reply` comes from another model or build than before."""
        if self._accept:
            return None
        if self._fresh is None:
            self._fresh = reply.served_model
        if self._differ(reply.served_model, self._fresh) or self._differ(reply.served_model, self._landed):
            return SERVED_MODEL_CHANGED
        if reply.fingerprint is not None:
            url = str(reply.recorded.get("url", ""))
            known = self._fingerprints.setdefault(url, reply.fingerprint)
            if reply.fingerprint != known:
                self._change = f"the fingerprint {reply.fingerprint!r} after {known!r}"
                return SERVED_MODEL_CHANGED
        return None

    def _differ(self, new: str | None, old: str | None) -> bool:
        if new is None or old is None or new == old:
            return False
        self._change = f"the model {new!r} after {old!r}"
        return True

    def sentence(self, endpoint: str, call_id: str) -> str:
        """Return what to tell the user when a change stops the job."""
        return (
            f"{endpoint} has answered with {self._change} (seen at call {call_id}): the job stops rather than "
            'mix two models. Name the profile or model anew to start over, or set on_model_change = "accept".'
        )
