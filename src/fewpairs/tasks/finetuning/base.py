"""The network that is taught: read from a folder or copied, its head, what stays as it is."""

from __future__ import annotations

import copy
import importlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from fewpairs.arrays import is_whole
from fewpairs.errors import InputError, MissingExtraError, UnwritableError
from fewpairs.similarities.transformers.folders import quiet, refuse_wordless

_SIGMOID = "torch.nn.modules.activation.Sigmoid"


def need_libraries(feature: str = "finetune_cross_encoder") -> None:
    """Refuse to begin without what a network is taught by."""
    for library in ("torch", "transformers"):
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise MissingExtraError(library, "transformers", feature) from error


def read_base(base: Any, tokenizer: Any) -> tuple[Any, Any]:
    """Return a network with one output and its tokenizer, both the caller's to change.

    Parameters
    ----------
    base : str, Path or sequence-classification model
    tokenizer : tokenizer or None
    """
    if isinstance(base, (str, Path)):
        network, own = _from_folder(base, tokenizer is None)
    elif hasattr(base, "config") and hasattr(base, "state_dict") and tokenizer is not None:
        network, own = copy.deepcopy(base), None
    else:
        raise InputError(
            f"base is a {type(base).__name__}"
            + (" without tokenizer=." if hasattr(base, "state_dict") else "."),
            "A network that is taught needs the tokenizer that it was made with.",
            "Pass a folder, or a sequence-classification model with tokenizer=….",
        )
    if getattr(network.config, "num_labels", None) != 1 or not hasattr(network, "base_model"):
        raise InputError(
            f"{type(network).__name__} returns {getattr(network.config, 'num_labels', None)} "
            "numbers.",
            "A similarity is one number.",
            "Pass a sequence-classification model with num_labels=1, or a folder.",
        )
    return network, copy.deepcopy(own if tokenizer is None else tokenizer)


def _from_folder(folder: str | Path, with_tokenizer: bool) -> tuple[Any, Any]:
    import transformers  # noqa: PLC0415 - optional

    own = None
    try:
        with quiet(transformers):
            if with_tokenizer:
                own = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            network = transformers.AutoModelForSequenceClassification.from_pretrained(
                folder, num_labels=1, local_files_only=True, ignore_mismatched_sizes=True
            )
    except (OSError, ValueError) as error:
        raise InputError(
            f"there is no encoder that can be read at {str(folder)!r}.",
            "Nothing is downloaded.",
            "Pass a folder with config.json, weights and tokenizer files; or load the model "
            "yourself, and pass it with tokenizer=….",
        ) from error
    if own is not None:
        refuse_wordless(own, folder)
    return network, own


def freeze(network: Any, layers: Any, *, taught: int = 0) -> None:
    """Keep embeddings and the lowest layers as they are, 0 of them or more; some must learn."""
    stack = _layers(network)
    most = max(len(stack) - taught, 0)
    if not is_whole(layers) or layers < 0 or layers > most:
        raise InputError(
            f"frozen_layers is {layers!r}.",
            f"The encoder has {len(stack)} layers that could be found.",
            f"Pass an integer from 0 to {most}.",
        )
    if layers:
        for part in (network.base_model.get_input_embeddings(), *stack[:layers]):
            part.requires_grad_(False)
        beside = getattr(network.base_model, "embeddings", None)
        if beside is not None:
            beside.requires_grad_(False)


def _layers(network: Any) -> list[Any]:
    """Return the encoder's layers, the lowest first: the first list of modules in it."""
    import torch  # noqa: PLC0415 - optional

    lists = (m for m in network.base_model.modules() if isinstance(m, torch.nn.ModuleList))
    return list(next(lists, []))


def refuse_existing(output: Path) -> None:
    """Refuse a place where no folder can be made, before anything is computed."""
    parent = output.absolute().parent
    try:
        _refuse_taken(output, parent)
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{output.name[:40]}."):
            pass  # it could be made
    except (OSError, ValueError) as error:
        if isinstance(error, UnwritableError):
            raise
        raise UnwritableError(
            f"{str(output)!r} cannot be written: {getattr(error, 'strerror', None) or error}.",
            "A model that cannot be saved would be lost.",
            "Choose another place.",
        ) from error


def _refuse_taken(output: Path, parent: Path) -> None:
    if output.is_symlink():
        raise UnwritableError(
            f"{str(output)!r} is a link.",
            "A folder is put in its place as a whole.",
            "Pass the folder that it leads to, or a new name.",
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UnwritableError(
            f"{str(output)!r} is there already.",
            "A model would take its place.",
            "Choose the name of a new folder, or remove that one.",
        )
    if not parent.is_dir():
        raise UnwritableError(
            f"{str(parent)!r} is no folder.",
            "A model that cannot be saved would be lost.",
            "Make it first, or choose another place.",
        )


def save(
    network: Any, tokenizer: Any, output: Path, max_length: int | None, *, scores: bool = True
) -> None:
    """Write a folder as a whole: weights as safetensors, tokenizer, of scores the activation."""
    import transformers  # noqa: PLC0415 - optional

    if scores:
        network.config.sentence_transformers = {"activation_fn": _SIGMOID}
    if max_length is not None:
        tokenizer.model_max_length = max_length
    output = output.absolute()
    try:
        unfinished = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name[:40]}."))
    except OSError as error:
        raise _unwritten(output, error) from error
    try:
        with quiet(transformers):
            network.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
        unfinished.chmod(0o755)
        unfinished.replace(output)  # which is not there, or is empty
    except (OSError, SafetensorError) as error:
        raise _unwritten(output, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unwritten(output: Path, error: Exception) -> UnwritableError:
    return UnwritableError(
        f"{str(output)!r} was not written: {getattr(error, 'strerror', None) or error}.",
        "Nothing is left of the attempt.",
        "Make room or choose another place, and train again with the same random_state.",
    )
