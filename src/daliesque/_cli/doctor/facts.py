# SPDX-License-Identifier: Apache-2.0
"""What is installed and what the machine has."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import io
import math
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ... import _kernels
from ..._engine.threads import cgroup_quota, get_num_threads, usable_cpus
from ..._gpu import load as load_gpu
from ..._version import __version__
from ..environment import described

# What an extra installs: the module to import, and what it is for.
EXTRAS = {
    "audio": ("soundfile", "decoders.audio, readers.NemoAsr"),
    "video": ("av", "decoders.video, readers.Video"),
    "parquet": ("pyarrow", "readers.Parquet"),
    "remote": ("fsspec", "files at URLs"),
    "fits": ("astropy", "readers.Fits"),
    "flow": ("cv2", "optical_flow"),
    "show": ("rich", "tables in terminals: ndd.watch()"),
    "torch": ("torch", "torch tensors, accelerators"),
    "torchdata": ("torchdata", "pytorch.nodes"),
    "jax": ("jax", "jax.iterate"),
    "ray": ("ray", "daliesque.ray"),
    "convert": ("libcst", "python -m daliesque convert"),
}
# Formats that are decoded by libraries, and what their name is there.
_WRITERS = {
    "PNG": "png_encode",
    "TIFF": "tiff_encode",
    "WebP": "webp_encode",
    "JPEG 2000": "jpeg2k_encode",
    "JPEG XL": "jpegxl_encode",
    "AVIF": "avif_encode",
    "HEIF": "heif_encode",
}


def find_facts() -> dict[str, Any]:
    """All facts, as JSON can hold them, and advice."""
    facts: dict[str, Any] = {
        "versions": _versions(),
        "processor": _processor(),
        "threads": _threads(),
        "memory": _memory(),
        "codecs": _codecs(),
        "extras": _extras(),
        "accelerator": _accelerator(),
        "environment": described(),
    }
    facts["advice"] = _advice(facts)
    return facts


def _versions() -> dict[str, str]:
    found = {
        "daliesque": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "path": str(Path(__file__).parents[2]),
    }
    for package in ("numpy", "ml_dtypes", "imagecodecs", "pillow"):
        found[package] = importlib.metadata.version(package)
    return found


def _processor() -> dict[str, Any]:
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    return {"name": name, "instruction_sets": _kernels.instruction_sets()}


def _threads() -> dict[str, Any]:
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "cores": os.cpu_count(),
        "affinity": len(affinity(0)) if affinity is not None else os.cpu_count(),
        "cgroup_quota": None if math.isinf(quota := cgroup_quota()) else round(quota, 2),
        "usable": usable_cpus(),
        "used_by_kernels": get_num_threads(),
    }


def _memory() -> dict[str, int | None]:
    return {
        "physical": _physical_memory(),
        "cgroup_limit": _cgroup_memory(),
        **_kernels.memory_info(),
    }


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _cgroup_memory() -> int | None:
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            number = int(Path(path).read_text())
        except (OSError, ValueError):
            continue
        return number if number < 1 << 60 else None
    return None


def _codecs() -> dict[str, str]:
    """Whether each format can be decoded, tried with a small file; "ok", or why not."""
    from ... import decoders

    pixels = _picture().shape
    found = {"JPEG": _tried(_jpeg_file, decoders.image, pixels)}
    for name, writer in _WRITERS.items():
        found[name] = _tried(functools.partial(_written_by, writer), decoders.image, pixels)
    found["WAV"] = _tried(_wav_file, _decode_audio, (1600, 1))
    for name in ("FLAC", "OGG"):
        found[name] = _tried(functools.partial(_audio_file, name), _decode_audio, (1600, 1))
    for name, codec in (("MPEG-4", "mpeg4"), ("H.264", "libx264"), ("VP9", "libvpx-vp9")):
        video = functools.partial(_video_file, codec)
        found[name] = _tried(video, decoders.video, (5, 64, 64, 3))
    return found


def _tried(make_file: Any, decode: Any, expected: tuple[int, ...]) -> str:
    from ... import batch

    try:
        file = make_file()
    except Exception as error:
        return f"not tried: {' '.join(str(error).split())[:80]}"
    try:
        shape = decode(batch([file])).evaluate().shape[0]
    except Exception as error:
        return f"fails: {' '.join(str(error).split())[:80]}"
    return "ok" if shape == expected else f"fails: the result has the shape {shape}"


def _decode_audio(files: Any) -> Any:
    from ... import decoders

    return decoders.audio(files)[0]


def _wav_file() -> Any:
    import wave

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 1600))
    return np.frombuffer(out.getvalue(), np.uint8)


def _audio_file(kind: str) -> Any:
    soundfile = importlib.import_module("soundfile")
    out = io.BytesIO()
    soundfile.write(out, np.zeros((1600, 1), np.float32), 16000, format=kind)
    return np.frombuffer(out.getvalue(), np.uint8)


def _video_file(codec: str) -> Any:
    """Five frames; encoders that are not there raise, and the format is not tried."""
    av = importlib.import_module("av")
    av.logging.set_level(av.logging.PANIC)
    out = io.BytesIO()
    with av.open(out, "w", "matroska" if "vpx" in codec else "mp4") as container:
        stream = container.add_stream(codec, rate=25)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for number in range(5):
            pixels = np.full((64, 64, 3), 40 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        container.mux(stream.encode())
    return np.frombuffer(out.getvalue(), np.uint8)


def _picture() -> Any:
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16)
    return np.stack([ramp, ramp.T, 255 - ramp], axis=-1)


def _jpeg_file() -> Any:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(_picture()).save(out, "JPEG")
    return np.frombuffer(out.getvalue(), np.uint8)


def _written_by(writer: str) -> Any:
    encode = getattr(importlib.import_module("imagecodecs"), writer)
    return np.frombuffer(encode(_picture()), np.uint8)


def _extras() -> dict[str, dict[str, str]]:
    """Which extras load, and why others do not."""
    found = {}
    for extra, (module, purpose) in EXTRAS.items():
        try:
            importlib.import_module(module)
            state = _version_of(module)
        except ModuleNotFoundError as error:
            missing = error.name == module
            advice = f"not installed (pip install 'daliesque[{extra}]')"
            state = advice if missing else f"does not load: {error}"
        except Exception as error:
            state = f"does not load: {' '.join(str(error).split())[:80]}"
        found[extra] = {"module": module, "state": state, "for": purpose}
    return found


def _version_of(module: str) -> str:
    """The version of the package that a module comes from, whatever that is called."""
    packages = importlib.metadata.packages_distributions().get(module, [module])
    return importlib.metadata.version(packages[0])


def _accelerator() -> dict[str, Any]:
    backend = load_gpu()
    if isinstance(backend, str):
        return {"found": False, "reason": backend}
    from ..._gpu.image_decoders import device_decoder

    kind = getattr(backend, "kind", "unknown")
    decoder = device_decoder(kind)
    return {
        "found": True,
        "kind": kind,
        "count": backend.count,
        "jpeg_decoder": None if decoder is None else decoder[0],
    }


def _advice(facts: dict[str, Any]) -> list[str]:
    """What the user should look at."""
    advice = []
    for name, state in facts["codecs"].items():
        if state.startswith("fails"):
            advice.append(f"{name} files cannot be decoded: {state}. Reinstall imagecodecs.")
    for extra, found in facts["extras"].items():
        if found["state"].startswith("does not load"):
            advice.append(f"the extra {extra!r} {found['state']}. Reinstall {found['module']}.")
    threads = facts["threads"]
    if threads["used_by_kernels"] > threads["usable"]:
        advice.append(
            f"{threads['used_by_kernels']} threads share {threads['usable']} usable cores. Set "
            "fewer with set_num_threads or DALIESQUE_NUM_THREADS."
        )
    if sys.platform == "linux" and not facts["processor"]["instruction_sets"]:
        advice.append("the processor has no AVX2: kernels run in their portable form, slower.")
    return advice
