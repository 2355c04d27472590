# SPDX-License-Identifier: Apache-2.0
"""Operators, device kernels and tests go by the same domains, which follow the native folders.

CONTRIBUTING.md has the table.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._gpu import kernels
from daliesque._gpu.operators import OWN_BODIES, named_kernels

ROOT = Path(__file__).parent.parent
PACKAGE = Path(ndd.__file__).parent

# Files of `_gpu` that hold no kernels of one domain.
DEVICE_MACHINERY = {
    *("__init__", "accelerator", "backend", "buckets", "call", "fused", "gather", "groups"),
    *("kernels", "lab", "numbers", "operators", "philox", "placement", "queues", "ragged"),
    *("samples", "staging", "triton_philox"),
}
# Device kernels that the engine calls, not an operator of the domain in whose file they are.
CALLED_BY_THE_ENGINE = {"arithmetic", "join"}
# Tests of several domains at once, of readers and of file formats.
OTHER_TESTS = {
    "ops": {"large", "recorded", "tensor_properties"},
    "oracle": {
        *("convert", "external_source", "metadata", "tiff"),
        *("coco_reader", "fits_reader", "nemo_asr", "npy_reader", "readers", "records"),
    },
}
# Domains without registered operators: the functions of `math`, and `imread`, which calls others.
NO_OPERATORS = {"arithmetic", "imread"}
# The reference runs these on GPUs only, or does not have them.
NOT_COMPARED = {
    *("decoders.inflate", "jitter", "experimental.remap"),
    *("experimental.dilate", "experimental.erode", "experimental.median_blur"),
    "optical_flow",
    *("auto_aug.augmix", "autocontrast", "gamma", "invert", "posterize", "solarize"),
    *("channel_shuffle", "grayscale", "rgb_shift", "motion_blur", "sharpness"),
    *("shear_x", "shear_y", "translate_x", "translate_y", "perspective"),
    *("elastic_transform", "grid_distortion", "coarse_dropout", "random_erasing"),
    *("copy_paste", "cutmix", "mixup", "mosaic"),
}


def listed_domains() -> dict[str, str]:
    """The native folder of each domain, as CONTRIBUTING.md lists them."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    found = {}
    for folder, cell in re.findall(r"^\| `(\w+)` \| (`.*`) \|$", text, re.MULTILINE):
        for domain in re.findall(r"`(\w+)`", cell):
            assert domain not in found, domain
            found[domain] = folder
    return found


DOMAINS = listed_domains()


def domain_of(name: str) -> str:
    package, domain = registry[name].body.__module__.rsplit(".", 1)
    assert package == "daliesque._ops", name
    return domain


def unit_tests(domain: str) -> Path:
    """Decoders have a folder of their own, with more files for the formats."""
    folder = "decoders" if domain.endswith("_decoders") else "ops"
    return ROOT / "tests" / folder / f"test_{domain}.py"


def test_domains_follow_the_native_folders() -> None:
    folders = {path.name for path in (ROOT / "src" / "kernels").iterdir() if path.is_dir()}
    assert set(DOMAINS.values()) <= folders
    # What all share, file formats for `decode`, what only readers use, and the bindings.
    assert folders - set(DOMAINS.values()) == {"core", "codecs", "parquet", "records", "bind"}


def test_files_are_domains() -> None:
    assert {path.stem for path in (PACKAGE / "_ops").glob("*.py")} == {"__init__", *DOMAINS}
    on_device = {path.stem for path in (PACKAGE / "_gpu").glob("*.py")}
    assert on_device - DEVICE_MACHINERY <= set(DOMAINS)
    for folder, others in OTHER_TESTS.items():
        names = {p.stem.removeprefix("test_") for p in (ROOT / "tests" / folder).glob("test_*.py")}
        assert names - set(DOMAINS) == others, folder


def test_every_domain_has_operators() -> None:
    assert {domain_of(name) for name in registry} == set(DOMAINS) - NO_OPERATORS


@pytest.mark.parametrize("name", sorted(registry))
def test_operators_are_tested_where_they_belong(name: str) -> None:
    domain = domain_of(name)
    called = re.compile(rf"\b{name.rpartition('.')[2]}\b")
    assert called.search(unit_tests(domain).read_text()), unit_tests(domain)
    compared = ROOT / "tests" / "oracle" / f"test_{domain}.py"
    found = compared.exists() and called.search(compared.read_text()) is not None
    assert found is (name not in NOT_COMPARED), compared


@pytest.mark.parametrize("name", sorted(set(kernels.__all__) - {"empty", "empty_uniform"}))
def test_device_kernels_are_where_their_operators_are(name: str) -> None:
    package, domain = getattr(kernels, name).__module__.rsplit(".", 1)
    assert package == "daliesque._gpu"
    users = {
        operator
        for operator, spec in registry.items()
        if domain_of(operator) == domain and name in named_kernels(spec.body)
    }
    assert bool(users) is (name not in CALLED_BY_THE_ENGINE)


@pytest.mark.parametrize("name", sorted(OWN_BODIES))
def test_bodies_for_devices_are_where_their_operators_are(name: str) -> None:
    assert OWN_BODIES[name].__module__ == f"daliesque._gpu.{domain_of(name)}"
