"""Settings of the ingestion layer: data only, unknown keys forbidden."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ingestion.loaders.loader import LoadOptions, OcrMode


class IngestionSettings(BaseModel):
    """How files become chunks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunk_tokens: int = Field(default=220, ge=32)
    """Most tokens of the embedding model in one chunk, prefix not counted."""
    overlap_tokens: int = Field(default=0, ge=0)
    """Tokens repeated from the end of the chunk before; whole sentences only."""
    max_file_bytes: int = Field(default=100 * 1024 * 1024, gt=0)
    """Larger files are refused with reason ``too_large``."""
    workers: int = Field(default=1, ge=1)
    """Processes that parse files."""
    parse_timeout_seconds: float = Field(default=120.0, gt=0)
    """Time limit for parsing one file."""
    parse_memory_bytes: int = Field(default=1024 * 1024 * 1024, ge=128 * 1024 * 1024)
    """Memory limit of one process that parses."""
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
