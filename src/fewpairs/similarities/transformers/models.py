"""Cross-encoders as they come: objects of two libraries, a folder, anything that predicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError, MissingExtraError
from fewpairs.similarities.transformers.folders import (
    refuse_unlearned,
    refuse_wordless,
    unreadable,
)
from fewpairs.similarities.transformers.joining import Batch
from fewpairs.similarities.transformers.onnx import OnnxModel, onnx_file

_LOADED = "; or load the model yourself, and pass it with tokenizer=…"
#: Classes of PyTorch that models name as their activation, and what they are called here.
_NAMED = {"Sigmoid": "sigmoid", "Identity": "identity", "Softmax": "softmax"}


@dataclass(frozen=True, eq=False)
class Encoder:
    """A model, its tokenizer and what they say of themselves.

    Parameters
    ----------
    forward : callable
        A batch of inputs → pairs × labels.
    tokenizer : tokenizer of Hugging Face
    config : configuration of the model
    activation : str or callable
        The model's own.
    version : str
        A checksum of weights and vocabulary.
    """

    forward: Callable[[Batch], FloatArray]
    tokenizer: Any
    config: Any
    activation: Any
    version: str

    @property
    def labels(self) -> Mapping[int, str]:
        """Names of the outputs."""
        return {int(k): str(v) for k, v in (getattr(self.config, "id2label", None) or {}).items()}


def encoder_of(model: Any, tokenizer: Any, device: Any, onnx: bool | None) -> Encoder | None:
    """Read a model, or return None for one that can only be asked to predict.

    Parameters
    ----------
    model : object, str or Path
    tokenizer : tokenizer or None
    device : device of PyTorch or None
        None leaves a model where it is.
    onnx : bool or None
        Whether ONNX Runtime is to be used; None uses it where a folder has a file for it.
    """
    if isinstance(model, (str, Path)):
        return _from_folder(model, tokenizer, device, onnx)
    if onnx:
        raise InputError(
            f"onnx=True was given with a {type(model).__name__}.",
            "ONNX Runtime reads a file.",
            "Pass the folder that has model.onnx, or onnx/model.onnx, in it.",
        )
    inner = _inside(model)
    if inner is not None:
        return _of_torch(inner, tokenizer or model.tokenizer, device, _own(model.activation_fn))
    if hasattr(model, "config") and callable(model) and hasattr(model, "state_dict"):
        if tokenizer is None:
            raise InputError(
                f"{type(model).__name__} came without its tokenizer.",
                "A model reads tokens, and only its own tokenizer makes the right ones.",
                "Pass tokenizer=AutoTokenizer.from_pretrained(…).",
            )
        return _of_torch(model, tokenizer, device, _configured(model.config))
    if not callable(getattr(model, "predict", None)):
        raise InputError(
            f"the model is a {type(model).__name__} without a method predict.",
            "A cross-encoder scores a list of pairs.",
            "Pass a CrossEncoder of sentence-transformers, a sequence-classification model of "
            "Hugging Face with its tokenizer, a folder, or any object with predict(pairs).",
        )
    return None


def _inside(model: Any) -> Any:
    """Return the network of a plain CrossEncoder of sentence-transformers, else None."""
    if not type(model).__module__.startswith("sentence_transformers"):
        return None
    plain = (
        len(model) == 1
        and getattr(model, "backend", "torch") == "torch"
        and getattr(model, "default_prompt_name", None) is None
        and getattr(model, "tokenizer", None) is not None
    )
    inner = getattr(model, "model", None)
    return inner if plain and hasattr(inner, "config") else None


def _from_folder(model: str | Path, tokenizer: Any, device: Any, onnx: bool | None) -> Encoder:
    try:
        import transformers  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("transformers", "transformers", "CrossEncoder") from error
    try:
        config = transformers.AutoConfig.from_pretrained(model, local_files_only=True)
        own = None
        if tokenizer is None:
            own = transformers.AutoTokenizer.from_pretrained(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise unreadable(model, _LOADED) from error
    if own is not None:
        refuse_wordless(own, model)
        tokenizer = own
    activation = _configured(config, Path(model))
    file = onnx_file(Path(model), onnx)
    if file is not None:
        version = _checksum(tokenizer, config, hashlib.sha256(file.read_bytes()))
        return Encoder(OnnxModel(file, device), tokenizer, config, activation, version)
    try:
        import torch  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("torch", "transformers", "CrossEncoder") from error
    network, told = transformers.AutoModelForSequenceClassification.from_pretrained(
        model, local_files_only=True, output_loading_info=True
    )
    refuse_unlearned(told["missing_keys"], model)
    if device is None and torch.cuda.is_available():
        device = "cuda"
    return _of_torch(network, tokenizer, device, activation)


def _of_torch(network: Any, tokenizer: Any, device: Any, activation: Any) -> Encoder:
    from fewpairs.similarities.transformers.network import Network, weights_hash  # noqa: PLC0415

    version = _checksum(tokenizer, network.config, weights_hash(network))
    return Encoder(Network(network, device), tokenizer, network.config, activation, version)


#: Of a configuration, what says where it came from or how it is written, and changes no score.
_UNSCORED = {
    *("_name_or_path", "transformers_version", "architectures", "torch_dtype", "dtype"),
    *("sentence_transformers", "id2label", "label2id", "return_dict", "use_cache", "torchscript"),
    *("output_attentions", "output_hidden_states", "initializer_range", "finetuning_task"),
    *("_attn_implementation", "_attn_implementation_autoset", "attn_implementation"),
    *("problem_type", "hidden_dropout_prob", "attention_probs_dropout_prob"),
    *("classifier_dropout", "gradient_checkpointing", "task_specific_params"),
}


def _checksum(tokenizer: Any, config: Any, digest: Any) -> str:
    """Return a word for weights, vocabulary, and the settings by which they are read."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        # What an earlier call has set for padding and cutting is none of its vocabulary.
        facts = json.loads(backend.to_str()) | {"padding": None, "truncation": None}
    else:
        facts = {"class": type(tokenizer).__name__, "vocabulary": tokenizer.get_vocab()}
    # Not what is true of any model by default: a later version of the library knows more of that,
    # and would make another model of the same one.
    said = config.to_diff_dict() if hasattr(config, "to_diff_dict") else {}
    facts["settings"] = {name: said[name] for name in said if name not in _UNSCORED}
    for side in ("truncation_side", "padding_side"):
        facts[side] = getattr(tokenizer, side, "right")
    digest.update(json.dumps(facts, sort_keys=True, default=str).encode("utf-8", "surrogatepass"))
    return str(digest.hexdigest()[:32])


def _configured(config: Any, folder: Path | None = None) -> Any:
    """Return the activation that a configuration names, or the usual one."""
    said = (getattr(config, "sentence_transformers", None) or {}).get("activation_fn")
    said = said or getattr(config, "sbert_ce_default_activation_function", None)
    beside = None if folder is None else folder / "config_sentence_transformers.json"
    if not said and beside is not None and beside.is_file():
        said = json.loads(beside.read_text(encoding="utf-8")).get("activation_fn")
    if not said:
        return "sigmoid" if getattr(config, "num_labels", 1) == 1 else "softmax"
    name = str(said).rsplit(".", 1)[-1]
    if name not in _NAMED:
        raise InputError(
            f"the model names {said} as its activation.",
            "Code that a file names is not run.",
            'Pass activation="sigmoid", "identity", or a function of an array.',
        )
    return _NAMED[name]


def _own(function: Any) -> Any:
    """Return the activation of an object: by its name, or as a function of an array."""
    name = type(function).__name__
    if name in _NAMED:
        return _NAMED[name]
    from fewpairs.similarities.transformers.network import of_arrays  # noqa: PLC0415

    return of_arrays(function)


class Predicting:
    """An object that is only asked to predict.

    Parameters
    ----------
    model : object with ``predict(list of pairs)``
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def score(self, left: Any, right: Any) -> FloatArray:
        """Return what the model says of pairs: pairs × labels."""
        answer = np.asarray(self.model.predict(list(zip(left, right, strict=True))))
        return np.asarray(answer[:, None] if answer.ndim == 1 else answer, dtype=np.float64)
