"""What every request must show before the application sees it, and the headers every answer carries.

The page is for one machine, but every site open in the same browser can send requests to 127.0.0.1. So the
Host must be this machine (a foreign name that resolves to it is refused), the Origin must be the page itself,
and every request must carry the random token of this start: in the printed URL at first, then in a cookie that
no other site's request carries.
"""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    # No script, style or anything else but this server's own files; nothing inline.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TOKEN_HEADER = "X-Saber-Token"
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?")
_SAFE = ("GET", "HEAD")


class Guard:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app
        The application.
    token
        The token of this start.
    port
        The port served; it names the cookie, since cookies do not tell ports apart.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.cookie = f"saber_{port}"
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"The page serves HTTP only, not {scope['type']}.")
        request = Request(scope)
        refusal = self._refusal(request)
        answer = self.app if refusal is None else refusal

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if refusal is None and self._in_address(request):
                    headers.append("Set-Cookie", f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        await answer(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> PlainTextResponse | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not _HOST.fullmatch(host):
            return _refuse("This page answers to 127.0.0.1 and localhost only.")
        if origin is None and request.method not in _SAFE:
            return _refuse("A request that changes anything must name its Origin.")
        if origin is not None and origin != f"http://{host}":
            return _refuse("Requests of other sites are refused.")
        # The address itself may be opened from anywhere, since it must carry the token; all else only by the page.
        elsewhere = request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if elsewhere and request.url.path != "/":
            return _refuse("Requests of other sites are refused.")
        if not (self._in_address(request) or self._in_cookie_or_header(request)):
            return _refuse("Open the address that saber annotate web printed: it carries the token of this start.")
        return None

    def _in_address(self, request: Request) -> bool:
        given = request.query_params.get("token", "") if request.url.path == "/" else ""
        return self._is_token(given)

    def _in_cookie_or_header(self, request: Request) -> bool:
        given = (request.headers.get(TOKEN_HEADER, ""), request.cookies.get(self.cookie, ""))
        return any(self._is_token(text) for text in given)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _refuse(reason: str) -> PlainTextResponse:
    return PlainTextResponse(f"{reason}\n", status_code=403)
