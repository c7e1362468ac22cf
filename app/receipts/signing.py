"""The key of a home: it signs receipts, so that whoever knows its public half can tell whose they are.

A signature says that the holder of this key made the file as it is. It says nothing of when, and nothing of whether
the answer is right: that is what the checks are for. Whoever can read the home can sign in its name.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from app.receipts.schema import Signature

KEY_BYTES = 32
"""RFC 8032, section 5.1.5."""
_PREFIX = b"groundwork-receipt/1\n"
"""Before what is signed, so that a signature means nothing elsewhere."""


def sign(key_file: Path, whole: str) -> Signature:
    """The signature of a digest; the key is made at its first use, for its owner alone to read.

    Raises:
        OSError: The key cannot be read or written.
    """
    key = Ed25519PrivateKey.from_private_bytes(_read_or_make(key_file))
    value = key.sign(_PREFIX + whole.encode())
    return Signature(public_key=key.public_key().public_bytes_raw().hex(), value=value.hex())


def is_valid(signature: Signature, whole: str) -> bool:
    """Whether the signature is that of its public key over this digest."""
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        public.verify(bytes.fromhex(signature.value), _PREFIX + whole.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def public_key(key_file: Path) -> str | None:
    """The public half of a home's key, as hex digits; None where it has made none."""
    try:
        return Ed25519PrivateKey.from_private_bytes(key_file.read_bytes()).public_key().public_bytes_raw().hex()
    except (OSError, ValueError):
        return None


def _read_or_make(key_file: Path) -> bytes:
    """The private key; of two processes that make it at once, one wins and both use its key."""
    if not key_file.exists():
        partial = key_file.with_name(f"{key_file.name}.{os.getpid()}.part")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(Ed25519PrivateKey.generate().private_bytes_raw())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(partial, key_file)
        except FileExistsError:
            pass
        finally:
            partial.unlink()
    return key_file.read_bytes()
