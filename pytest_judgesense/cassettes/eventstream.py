"""Amazon's event streams, ``application/vnd.amazon.eventstream``: what Bedrock streams replies in.

A frame has its length and that of its headers (four bytes each, big-endian), the CRC-32 of these
eight, headers, payload, and the CRC-32 of everything before. The payload is JSON; a model's own
event is in it as ``{"bytes": "<base64>"}``. Source: the Smithy specification of
``vnd.amazon.eventstream`` (https://smithy.io/2.0/aws/amazon-eventstream.html).
"""

from __future__ import annotations

import base64
import json
import struct
from typing import Any, Final, NamedTuple
from zlib import crc32

_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")


class Frame(NamedTuple):
    """A frame: its ``headers`` and its ``payload`` as they came."""

    headers: bytes
    payload: bytes

    @property
    def text(self) -> str:
        """The event as text: that within ``bytes``, or the payload."""
        inner = self._wrapped()
        data = self.payload if inner is None else base64.b64decode(inner["bytes"])
        return data.decode("utf-8", "surrogateescape")

    def with_text(self, text: str) -> Frame:
        """This frame with another event."""
        data, inner = text.encode("utf-8", "surrogateescape"), self._wrapped()
        if inner is not None:
            encoded = inner | {"bytes": base64.b64encode(data).decode()}
            data = json.dumps(encoded, separators=(",", ":")).encode()
        return Frame(self.headers, data)

    def _wrapped(self) -> dict[str, Any] | None:
        try:
            value = json.loads(self.payload)
            base64.b64decode(value["bytes"], validate=True)
        except (ValueError, LookupError, TypeError, RecursionError):
            return None
        return dict(value)

    def __bytes__(self) -> bytes:
        """The frame as it is sent, its lengths and checksums right."""
        size = _PRELUDE.size + len(self.headers) + len(self.payload) + _CRC.size
        head = _PRELUDE.pack(size, len(self.headers), 0)[:8]
        frame = head + _CRC.pack(crc32(head)) + self.headers + self.payload
        return frame + _CRC.pack(crc32(frame))


def frames_of(data: bytes) -> tuple[list[Frame], bytes]:
    """The frames at the start of ``data``, and the rest; no frames if it is not such a stream."""
    frames: list[Frame] = []
    start = 0
    while start + _PRELUDE.size <= len(data):
        size, of_headers, check = _PRELUDE.unpack_from(data, start)
        end, begin = start + size, start + _PRELUDE.size + of_headers
        if begin + _CRC.size > end or end > len(data):
            break
        if check != crc32(data[start : start + 8]):
            break
        headers, payload = data[begin - of_headers : begin], data[begin : end - _CRC.size]
        frames.append(Frame(headers, payload))
        start = end
    return frames, data[start:]
