"""Where model replies come from: a server, an in-process engine, or the offline provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotate.providers.base import Provider
from warehouse.errors import SaberError
from warehouse.settings import Settings

__all__ = ["make_provider"]


def make_provider(
    settings: Settings, name: str, model: str | None = None, base_url: str | Sequence[str] | None = None
) -> Provider:
    """Return the provider called `name`.

    Parameters
    ----------
    settings
        Where the profiles ``[providers.NAME]`` are.
    name
        ``offline``, the name of a profile, or plain ``server`` / ``vllm-batch``.
    model
        Overrides the profile's model.
    base_url
        One URL or several, instead of the profile's; they, not the profile, are then the endpoint under which
        calls are landed.

    Raises
    ------
    SaberError
        For an unknown name, a profile that cannot be read, or a URL or model that is missing.
    """
    # Imported here: the offline pipeline needs no HTTP client, and only one provider needs the engine.
    if name == "offline":
        if base_url:
            raise SaberError("The offline provider asks no server: leave --base-url out or name another provider.")
        from annotate.providers.offline import OfflineProvider

        return OfflineProvider(model) if model else OfflineProvider()
    from annotate.providers.profile import KINDS, check_urls, read_profile

    table = settings.providers.get(name)
    if table is None and name not in KINDS:
        known = ", ".join(sorted({"offline", *KINDS, *settings.providers}))
        raise SaberError(f"No provider is called {name!r}. Known: {known}; add [providers.NAME] to saber.toml.")
    profile = read_profile(name, table if table is not None else {"kind": name})
    if model:
        profile = replace(profile, model=model)
    if base_url:
        urls = (base_url,) if isinstance(base_url, str) else tuple(base_url)
        check_urls(urls, "--base-url")
        profile = replace(profile, urls=urls, name="")
    if profile.kind == "vllm-batch":
        from annotate.providers.vllm_batch import VllmBatchProvider

        return VllmBatchProvider(profile)
    from annotate.providers.server import ServerProvider

    return ServerProvider(profile)
