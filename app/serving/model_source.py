"""Which model a server is to serve: a folder, a GGUF file, a name on the hub, or the chat model of the model store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from app.models.store import ModelStore
from app.serving.errors import KnobUnsupported
from app.serving.settings import ServingSettings
from app.serving.shape import ModelShape, read_shape
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as the engine gets it.

    Attributes:
        argument: Folder, file or name on the hub, as it goes into the command line.
        name: What it is called, for the look-up of its family.
        shape: Its sizes; None when they cannot be known before it is downloaded.
        made_from: The GGUF file whose weights must first be written out at ``argument``; None when nothing is to do.
    """

    argument: str
    name: str
    shape: ModelShape | None
    made_from: Path | None = None


def served_model(settings: Settings, serving: ServingSettings) -> ServedModel:
    """The model that the settings ask for.

    Raises:
        KnobUnsupported: The engine cannot read such a model, or its files do not say their sizes.
        ModelFilesMissing: The chat model of the model store has not been pulled.
    """
    if not serving.model:
        gguf = ModelStore(settings.home, settings.models).chat_model_path(settings.model.name)
        return _from_gguf(gguf, settings.model.name, settings, serving)
    path = Path(serving.model).expanduser()
    if path.is_file():
        return _from_gguf(path.absolute(), path.stem, settings, serving)
    if serving.engine == "llama.cpp":
        raise KnobUnsupported(f"llama.cpp reads a GGUF file, and {serving.model!r} is none; set serving.model to one.")
    if path.is_dir():
        return ServedModel(str(path.absolute()), path.name, read_shape(path))
    if path.is_absolute() or serving.model.startswith((".", "~")) or serving.model.count("/") != 1:
        raise KnobUnsupported(f"There is no model at {serving.model!r}; give a folder, a GGUF file or OWNER/NAME.")
    # Here: the hub's library is half a second of imports, and only this case needs it.
    from app.serving.hub_config import hub_shape

    return ServedModel(
        serving.model, serving.model.partition("/")[2], hub_shape(serving.model, offline=settings.models.offline)
    )


def _from_gguf(path: Path, name: str, settings: Settings, serving: ServingSettings) -> ServedModel:
    shape = read_shape(path)
    if serving.engine == "llama.cpp":
        return ServedModel(str(path), name, shape)
    # vLLM itself reads no GGUF; its weights are written out once, two bytes a number.
    folder = settings.home.engines / "weights" / f"{path.stem}-bf16"
    if (folder / "config.json").is_file():
        return ServedModel(str(folder), name, replace(read_shape(folder), model_type=shape.model_type))
    wide = replace(shape, weights_bytes=2 * shape.parameters, quantized=False)
    return ServedModel(str(folder), name, wide, made_from=path)
