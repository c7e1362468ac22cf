"""Settings of the ingestion layer: data only, unknown keys forbidden."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ingestion.loaders.loader import LoadOptions, OcrMode
from retrieval.setting_values import Words


class RemoteSettings(BaseModel):
    """What lies outside this machine: web pages, sitemaps, buckets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allow_private_addresses: bool = False
    """Whether URLs may lead to private, loopback and link-local addresses: for intranets, not for public services."""
    timeout_seconds: float = Field(default=30.0, gt=0)
    """Time for one page, redirects and body included."""
    max_redirects: int = Field(default=5, ge=0)
    """Redirects of one page that are followed; each address is checked."""
    max_files: int = Field(default=10_000, ge=1)
    """Most pages of one sitemap, and most objects of one bucket."""
    max_total_bytes: int = Field(default=8 * 1024 * 1024 * 1024, gt=0)
    """Most bytes of all pages and objects of one ingest; they lie on the disk of the home until it has ended."""
    other_hosts: bool = False
    """Whether a sitemap may name pages of hosts other than its own."""
    s3_endpoint_url: str = ""
    """Address of an S3-compatible service; empty for AWS. Access keys come from the environment, as for AWS's tools."""


class IngestionSettings(BaseModel):
    """How files become chunks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunk_tokens: int = Field(default=220, ge=32)
    """Most tokens of the embedding model in one chunk, prefix not counted."""
    overlap_tokens: int = Field(default=0, ge=0)
    """Tokens repeated from the end of the chunk before; whole sentences only."""
    exclude: Words = ()
    """Patterns as in ``.gitignore``: left out of folders, sitemaps and buckets. With commas in the environment."""
    max_file_bytes: int = Field(default=100 * 1024 * 1024, gt=0)
    """Larger files are refused with reason ``too_large``."""
    workers: int = Field(default=1, ge=1)
    """Processes that parse files."""
    parse_timeout_seconds: float = Field(default=120.0, gt=0)
    """Time limit for parsing one file."""
    parse_memory_bytes: int = Field(default=1024 * 1024 * 1024, ge=128 * 1024 * 1024)
    """Memory limit of one process that parses."""
    ray_address: str = "auto"
    """Address of the Ray cluster for ``--engine ray``; ``auto`` finds the one that this machine is a node of."""
    ocr: OcrMode = "auto"
    """When text is read from pictures: where a page has no text layer, on every page, or never."""
    ocr_languages: str = Field(default="eng", pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$")
    """Languages of the recognition in tesseract's codes, joined by ``+``."""
    max_children: int = Field(default=10_000, ge=0)
    """Most files taken out of one archive or mail, those inside inner ones counted."""
    max_children_bytes: int = Field(default=512 * 1024 * 1024, ge=0)
    """Most bytes of all files taken out of one archive or mail, unpacked."""
    max_depth: int = Field(default=4, ge=0)
    """Archives and mails inside one another."""

    def load_options(self) -> LoadOptions:
        """What loaders are told of these settings."""
        return LoadOptions(
            ocr=self.ocr,
            ocr_languages=self.ocr_languages,
            max_children=self.max_children,
            max_children_bytes=self.max_children_bytes,
            max_depth=self.max_depth,
        )
