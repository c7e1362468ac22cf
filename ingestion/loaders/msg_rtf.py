"""Undoes the packing of RTF bodies in Outlook's mail files ([MS-OXRTFCP], sections 2.1 and 3.1)."""

from __future__ import annotations

import struct

from ingestion.errors import LoadFailed

_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_SIZE = 4096
_PACKED, _PLAIN = b"LZFu", b"MELA"


def unpack_rtf(data: bytes) -> bytes:
    """The RTF text of a packed body.

    Raises:
        LoadFailed: ``corrupt`` for bytes that are not packed in this way.
    """
    if len(data) < 16:
        raise LoadFailed("corrupt", "The mail's body is damaged.")
    (size,) = struct.unpack_from("<I", data, 4)
    kind, body = data[8:12], data[16:]
    if kind == _PLAIN:
        return body[:size]
    if kind != _PACKED:
        raise LoadFailed("corrupt", "The mail's body is packed in an unknown way.")
    return _unpack(body)[:size]


def _unpack(body: bytes) -> bytes:
    window = bytearray(_SIZE)
    window[: len(_DICTIONARY)] = _DICTIONARY
    write = len(_DICTIONARY)
    output = bytearray()
    position = 0
    while position < len(body):
        control = body[position]
        position += 1
        for bit in range(8):
            is_reference = control >> bit & 1
            token = body[position : position + 1 + is_reference]
            position += len(token)
            if len(token) <= is_reference:
                return bytes(output)
            number = int.from_bytes(token, "big")
            if is_reference and number >> 4 == write:
                return bytes(output)
            for index in range((number & 0xF) + 2 if is_reference else 1):
                byte = window[((number >> 4) + index) % _SIZE] if is_reference else number
                window[write] = byte
                write = (write + 1) % _SIZE
                output.append(byte)
    return bytes(output)
