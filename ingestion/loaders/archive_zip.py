"""Zip archives as folders; what is made of zip files (office documents, books) has loaders of its own."""

from __future__ import annotations

import io
import zipfile
import zlib

from ingestion.errors import LoadFailed
from ingestion.loaders.archive_members import Members
from ingestion.loaders.encoding import decode
from ingestion.loaders.loader import Certainty, Loaded, Loader, LoadOptions, Sample

_MAX_ENTRIES = 100_000
"""Of the directory; entries that are folders count too."""
_ENCRYPTED = 0x1
_UTF8 = 0x800
_LINK = 0o120000
_TYPE_BITS = 0o170000
_NOT_FOLDERS = ("[Content_Types].xml", "mimetype", "AndroidManifest.xml")
"""A zip with one of these is a document or a program."""
_DAMAGE = (zipfile.BadZipFile, OSError, EOFError, ValueError, zlib.error)


def load_zip(data: bytes, _name: str, options: LoadOptions) -> Loaded:
    """The files of an archive.

    Raises:
        LoadFailed: ``corrupt`` for a damaged directory, ``empty``, ``unsafe_archive`` for more files than the options
            allow, ``unsupported_type`` for a document or program in a zip that no loader reads.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except (*_DAMAGE, NotImplementedError) as error:
        raise LoadFailed("corrupt", "The archive is damaged or cut off and cannot be read.") from error
    if len(entries) > _MAX_ENTRIES:
        raise LoadFailed("unsafe_archive", f"The archive lists more than {_MAX_ENTRIES} entries.")
    if any(entry.filename in _NOT_FOLDERS for entry in entries):
        raise LoadFailed("unsupported_type", "This kind of document or program in a zip is not read.")
    members = Members(options)
    for entry in entries:
        if not entry.is_dir():
            _add(archive, entry, members)
    return members.finish()


def _add(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, members: Members) -> None:
    name = _name_of(entry)
    if entry.external_attr >> 16 & _TYPE_BITS == _LINK:
        members.refuse(name, "unsafe_archive", "It is a link; links in archives are not followed.")
    elif entry.flag_bits & _ENCRYPTED:
        members.refuse(name, "encrypted", "It asks for a password; pack it without one.")
    else:
        try:
            with archive.open(entry) as file:
                members.add(name, entry.file_size, entry.compress_size, file.read)
        except NotImplementedError:
            members.refuse(name, "unsupported_type", "It is packed in a way that is not read; use normal zip.")
        except (*_DAMAGE, RuntimeError):
            members.refuse(name, "corrupt", "It is damaged inside the archive.")


def _name_of(entry: zipfile.ZipInfo) -> str:
    """The name as it was meant: without the UTF-8 flag it is in whatever encoding the packing machine used."""
    if entry.flag_bits & _UTF8 or entry.filename.isascii():
        return entry.filename
    try:
        return decode(entry.filename.encode("cp437")).text
    except (LoadFailed, UnicodeError):
        return entry.filename


def _certainty(sample: Sample) -> Certainty:
    return 2 if sample.head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")) else 0


LOADER = Loader("zip archive", frozenset((".zip",)), _certainty, load_zip)
