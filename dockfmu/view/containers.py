"""WebM and MP4 files of one video track, from frames that a browser has compressed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FilmFrame:
    """A compressed frame; `key` frames are decoded without others."""

    data: bytes
    key: bool


# --- WebM (a subset of Matroska: RFC 9559) --------------------------------------------------------------------------


def _element(number: int, content: bytes) -> bytes:
    """Return an EBML element with a length of 8 bytes."""
    name = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return name + (len(content) | 1 << 56).to_bytes(8, "big") + content


def _whole(number: int, value: int) -> bytes:
    return _element(number, value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big"))


def _text(number: int, value: str) -> bytes:
    return _element(number, value.encode())


def webm(frames: Sequence[FilmFrame], width: int, height: int, rate: int) -> bytes:
    """Return a WebM file of VP9 frames, shown at `rate` frames per second; a cluster begins at each key frame."""
    head = _element(
        0x1A45DFA3,
        b"".join((_whole(0x4286, 1), _whole(0x42F7, 1), _whole(0x42F2, 4), _whole(0x42F3, 8),
                  _text(0x4282, "webm"), _whole(0x4287, 4), _whole(0x4285, 2))),
    )  # fmt: skip
    duration = _element(0x4489, struct.pack(">d", 1000.0 * len(frames) / rate))
    info = _element(0x1549A966, _whole(0x2AD7B1, 1_000_000) + _text(0x4D80, "dockfmu") + _text(0x5741, "dockfmu")
                    + duration)  # fmt: skip
    video = _element(0xE0, _whole(0xB0, width) + _whole(0xBA, height))
    track = _whole(0xD7, 1) + _whole(0x73C5, 1) + _whole(0x83, 1) + _text(0x86, "V_VP9") + video
    tracks = _element(0x1654AE6B, _element(0xAE, track))
    clusters, blocks, began = [], b"", 0
    for k, frame in enumerate(frames):
        now = round(1000.0 * k / rate)
        # times of blocks are 16 bits relative to their cluster
        if (frame.key or now - began > 30_000) and blocks:
            clusters.append(_element(0x1F43B675, _whole(0xE7, began) + blocks))
            blocks = b""
        began = began if blocks else now
        blocks += _element(0xA3, struct.pack(">BhB", 0x81, now - began, 0x80 if frame.key else 0) + frame.data)
    clusters.append(_element(0x1F43B675, _whole(0xE7, began) + blocks))
    return head + _element(0x18538067, info + tracks + b"".join(clusters))


# --- MP4 (ISO/IEC 14496-12, 14496-14) ---------------------------------------------------------------------------------


def _box(kind: bytes, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return (8 + len(content)).to_bytes(4, "big") + kind + content


def _full(kind: bytes, *parts: bytes, flags: int = 0) -> bytes:
    return _box(kind, flags.to_bytes(4, "big"), *parts)


_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def mp4(frames: Sequence[FilmFrame], width: int, height: int, rate: int, decoder: bytes) -> bytes:
    """Return an MP4 file of H.264 frames without reordering; `decoder` is the content of its avcC box."""
    count, data = len(frames), b"".join(frame.data for frame in frames)
    kind = _box(b"ftyp", b"isom", struct.pack(">I", 0x200), b"isomiso2avc1mp41")
    ticks = 1000
    sample = _box(
        b"avc1",
        struct.pack(">6xH16xHHIIIH32sHh", 1, width, height, 0x480000, 0x480000, 0, 1, b"", 24, -1),
        _box(b"avcC", decoder),
    )
    keys = [k for k, frame in enumerate(frames, start=1) if frame.key]

    def tables(start: int) -> bytes:
        return _box(
            b"stbl",
            _full(b"stsd", struct.pack(">I", 1), sample),
            _full(b"stts", struct.pack(">III", 1, count, ticks)),
            _full(b"stss", struct.pack(f">I{len(keys)}I", len(keys), *keys)),
            _full(b"stsc", struct.pack(">IIII", 1, 1, count, 1)),
            _full(b"stsz", struct.pack(f">II{count}I", 0, count, *(len(frame.data) for frame in frames))),
            _full(b"stco", struct.pack(">II", 1, start)),
        )

    def movie(start: int) -> bytes:
        length, scale = count * ticks, rate * ticks
        source = _box(b"dinf", _full(b"dref", struct.pack(">I", 1), _full(b"url ", flags=1)))
        media = _box(
            b"mdia",
            _full(b"mdhd", struct.pack(">IIIIHH", 0, 0, scale, length, 0x55C4, 0)),
            _full(b"hdlr", struct.pack(">I4s12x", 0, b"vide"), b"dockfmu\0"),
            _box(b"minf", _full(b"vmhd", bytes(8), flags=1), source, tables(start)),
        )
        track = _full(
            b"tkhd",
            struct.pack(">IIIII8xHHHH", 0, 0, 1, 0, length, 0, 0, 0, 0),
            _MATRIX,
            struct.pack(">II", width << 16, height << 16),
            flags=3,
        )
        header = _full(
            b"mvhd", struct.pack(">IIIIIH10x", 0, 0, scale, length, 0x10000, 0x100), _MATRIX, bytes(24),
            struct.pack(">I", 2),
        )  # fmt: skip
        return _box(b"moov", header, _box(b"trak", track, media))

    # the place of the frames does not change the length of what comes before them
    before = len(kind) + len(movie(0)) + 8
    return kind + movie(before) + _box(b"mdat", data)
