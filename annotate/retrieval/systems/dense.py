"""Dense models behind any OpenAI-compatible embeddings endpoint (OpenAI, vLLM and others)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from annotate.providers.profile import check_urls
from annotate.retrieval.base import Context
from annotate.retrieval.dense.profile import ENDPOINT, EmbeddingProfile, read_embedding_profile
from annotate.retrieval.dense.system import DenseSystem
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from annotate.retrieval.dense.endpoint import EndpointEncoder
    from warehouse.settings import Settings


@dataclass(frozen=True)
class Dense(DenseSystem):
    """Cosine of the vectors of a model behind an embeddings endpoint.

    Attributes
    ----------
    provider
        Name of a profile ``[providers.NAME]`` of kind ``embeddings``.
    url
        Base URL instead of a profile.
    model, dimensions, context_tokens, tokeniser
        As in the profile, which they override.
    """

    name: ClassVar[str] = "dense"
    provider: str = ""
    url: str = ""
    model: str = ""
    dimensions: int = 0
    context_tokens: int = 0
    tokeniser: str = ""

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Lay the parameters over the profile's values."""
        name = parameters.get("provider", "")
        if not name:
            if not (parameters.get("url") and parameters.get("model")):
                raise SaberError(
                    "The system dense needs a model: --param provider=NAME of a profile [providers.NAME] "
                    'with kind = "embeddings", or --param url=URL model=MODEL.'
                )
            return cls(**parameters)
        profile = profile_named(settings, name, ENDPOINT)
        shared = ("model", "dimensions", "context_tokens", "tokeniser", "query_prefix", "document_prefix")
        return cls(**{**{key: getattr(profile, key) for key in shared}, **parameters})

    @property
    def title(self) -> str:
        """The profile's name, else the model's."""
        return self.provider or self.model.rstrip("/").rpartition("/")[2] or self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything but credentials, which a URL may hold."""
        from annotate.retrieval.dense.endpoint import endpoint_identity

        shown = super().parameters
        del shown["url"]
        shown["endpoint"] = endpoint_identity(EmbeddingProfile(name=self.provider, urls=(self.url,)))
        return shown

    def encoder(self, context: Context) -> EndpointEncoder:
        """Make ready to ask."""
        from annotate.retrieval.dense.endpoint import EndpointEncoder

        profile = EmbeddingProfile(name="", urls=(self.url,))
        if self.provider:
            profile = profile_named(context.settings, self.provider, ENDPOINT)
        if self.url:
            check_urls((self.url,), "--param url")
            profile = replace(profile, urls=(self.url,))
        if not profile.urls or not self.model:
            raise SaberError(f"[providers.{self.provider}] needs urls and model.")
        return EndpointEncoder(
            replace(
                profile,
                model=self.model,
                dimensions=self.dimensions,
                context_tokens=self.context_tokens,
                tokeniser=self.tokeniser,
            )
        )


def profile_named(settings: Settings, name: str, kind: str) -> EmbeddingProfile:
    """Read a profile of a dense model of one kind.

    Raises
    ------
    SaberError
        When there is none of the name, or it is of another kind.
    """
    table = settings.providers.get(name)
    if table is None:
        raise SaberError(f"saber.toml has no [providers.{name}].")
    profile = read_embedding_profile(name, table)
    if profile.kind != kind:
        raise SaberError(f"[providers.{name}] is of kind {profile.kind!r}, not {kind!r}.")
    return profile


SYSTEMS = (Dense,)
