"""A cross-encoder in an ONNX file, run by ONNX Runtime: without PyTorch, and often faster."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError, MissingExtraError
from fewpairs.similarities.transformers.joining import Batch

#: Where exporters put it.
_PLACES = ("model.onnx", "onnx/model.onnx")


def onnx_file(folder: Path, wanted: bool | None) -> Path | None:
    """Return the ONNX file of a model, or None where PyTorch is to run it.

    Parameters
    ----------
    folder : Path
    wanted : bool or None
        None uses a file where there is one, and ONNX Runtime is installed.
    """
    found = next((folder / place for place in _PLACES if (folder / place).is_file()), None)
    installed = importlib.util.find_spec("onnxruntime") is not None
    if wanted and found is None:
        raise InputError(
            f"{folder} has no {' and no '.join(_PLACES)}.",
            "ONNX Runtime reads such a file; none is made here.",
            "Export the model first, or pass onnx=False.",
        )
    if wanted and not installed:
        raise MissingExtraError("onnxruntime", "onnx", "CrossEncoder(onnx=True)")
    return found if wanted or (wanted is None and installed) else None


class OnnxModel:
    """An ONNX file as a function of arrays.

    Parameters
    ----------
    file : Path
    device : object, optional
        "cuda" asks for a graphics card; anything else for the processor.
    """

    def __init__(self, file: Path, device: Any = None) -> None:
        self.file, self.device = file, device
        self._session = self._open()

    def _open(self) -> Any:
        import onnxruntime  # noqa: PLC0415 - optional

        options = onnxruntime.SessionOptions()
        # It would take all cores, whatever the variable says that other libraries go by.
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0)
        on_card = str(self.device or "").startswith("cuda")
        providers = [*(["CUDAExecutionProvider"] if on_card else []), "CPUExecutionProvider"]
        return onnxruntime.InferenceSession(str(self.file), options, providers=providers)

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.file, "device": self.device}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __call__(self, batch: Batch) -> FloatArray:
        """Return pairs × labels."""
        feed = {}
        for wanted in self._session.get_inputs():
            array = batch.get(wanted.name, np.zeros_like(batch["input_ids"]))
            feed[wanted.name] = array.astype(np.int32 if "int32" in wanted.type else np.int64)
        return np.asarray(self._session.run(None, feed)[0], dtype=np.float64)
