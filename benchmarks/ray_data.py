# SPDX-License-Identifier: Apache-2.0
"""Images per second from a folder of JPEGs to torch tensors, with Ray Data and without.

    python benchmarks/ray_data.py ROOT [--cpus 2] [--images 8192] [--rounds 3] [--only NAME ...]

Run it with .venv-frameworks-ray/bin/python, which `make test-frameworks-ray` makes, after
`.venv-frameworks-ray/bin/pip install --no-deps torchvision==0.28.0`. The job: decode, resize to
224x224 (antialiased), normalize to float32 CHW, in batches of 64 torch tensors.

- read_images: `ray.data.read_images(size=...)`, which decodes and resizes with Pillow, and
  torchvision's `normalize` in `map_batches`;
- binary + torchvision: `read_binary_files`, Pillow and torchvision's transforms in `map`;
- binary + Transform: `read_binary_files` and `ray.Transform`, in tasks of one CPU;
- ray.read: reader, decoder and operators in one task with all CPUs;
- no Ray: the same loop body in this process, with as many threads (`pytorch.DataLoader`);
- Ray alone: the tasks and bytes of ray.read, but of a batch that is ready, so nothing is decoded.

Each runs in a process, and with a cluster, of its own, one after the other, round after round. Each
reads all images once, so that the processes of Ray are there, have loaded what they need, and have
touched the memory of the object store; then three times more, of which the median counts (Ray may
choose a process that is new to the work). The table shows medians of the rounds: images
per second; the same per CPU-second of all processes; seconds until the first batch; the most memory
that all processes had to themselves, and what the object store took, in MB.

What Ray alone needs of the processors is no longer there for decoding: as long as all of them are
busy, ray.read cannot be faster than 1 / (a + b) images per CPU-second, where a is what the loop
without Ray needs for an image, and b what Ray alone does. The last line compares with that bound.

torchvision's wheels for CUDA cannot load their compiled part beside a torch for CPUs; the
transforms do not need it, and get the names of its operators declared instead.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

BATCH = 64
SIZE = 224
# How many batches a task makes of files that Ray reads.
BATCHES = 4
STORE = 1 << 30
# How often all images are read after the first time.
PASSES = 3
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]

# Makes the batches of the images in a folder, with a number of CPUs.
Contestant = Callable[[str, int], Iterable[Any]]


def torchvision_transforms() -> Any:
    """torchvision.transforms.v2, with the compiled part or without."""
    import torch

    try:
        from torchvision.transforms import v2
    except RuntimeError:
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "FRAGMENT")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float threshold) -> Tensor")
        torchvision_transforms.library = library  # type: ignore[attr-defined]
        from torchvision.transforms import v2
    return v2


def normalized_batch(batch: dict[str, Any]) -> dict[str, Any]:
    """What read_images delivers, as a model wants it."""
    import torch

    v2 = torchvision_transforms()
    images = torch.as_tensor(batch["image"]).permute(0, 3, 1, 2).float()
    return {"image": v2.functional.normalize(images, MEAN, STD).numpy()}


def decoded_row(row: dict[str, Any]) -> dict[str, Any]:
    """One file, by Pillow and torchvision."""
    import io

    import torch
    from PIL import Image

    v2 = torchvision_transforms()
    image = v2.functional.pil_to_tensor(Image.open(io.BytesIO(row["bytes"])).convert("RGB"))
    image = v2.functional.resize(image, [SIZE, SIZE], antialias=True).to(torch.float32)
    return {"image": v2.functional.normalize(image, MEAN, STD).numpy()}


def body(jpegs: Any, *_labels: Any) -> dict[str, Any]:
    """The same with our operators."""
    import daliesque as ndd

    images = ndd.resize(ndd.decoders.image(jpegs), size=[SIZE, SIZE])
    return {"image": ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)}


def read_images(root: str, _cpus: int) -> Iterable[Any]:
    import ray.data

    images = ray.data.read_images(root, size=(SIZE, SIZE), mode="RGB")
    made = images.map_batches(normalized_batch, batch_size=BATCH, batch_format="numpy")
    return tensors(made)


def binary_torchvision(root: str, _cpus: int) -> Iterable[Any]:
    import ray.data

    return tensors(ray.data.read_binary_files(root).map(decoded_row))


def binary_transform(root: str, _cpus: int) -> Iterable[Any]:
    import ray.data

    import daliesque.ray as ndr

    # Blocks of some batches, and no batch_size for map_batches: Ray then reads and transforms in
    # the same task, and files do not cross the object store.
    blocks = max(1, count_images(root) // (BATCHES * BATCH))
    files = ray.data.read_binary_files(root, override_num_blocks=blocks)
    transform = ndr.Transform(body, batch_size=BATCH, jpegs="bytes")
    made = files.map_batches(transform, batch_format="pyarrow")
    return ndr.iter_torch(made, batch_size=BATCH, copy=False)


def ray_read(root: str, cpus: int) -> Iterable[Any]:
    import daliesque as ndd
    import daliesque.ray as ndr

    made = ndr.read(
        ndd.readers.File, file_root=root, batch_size=BATCH, transform=body, num_cpus=cpus
    )
    return ndr.iter_torch(made, batch_size=BATCH, copy=False)


def ready_block() -> Any:
    """A block of a batch, with as many bytes as the images have; made once in a process."""
    import numpy as np
    import pyarrow as pa
    from ray.data.extensions import ArrowTensorArray

    # Functions come with their globals, once for each task: what is to stay is kept elsewhere.
    kept = vars(sys.modules["__main__"])
    if "block_of_ones" not in kept:
        images = np.ones((BATCH, 3, SIZE, SIZE), np.float32)
        kept["block_of_ones"] = pa.table({"image": ArrowTensorArray.from_numpy(images)})
    return kept["block_of_ones"]


def ready_blocks(root: str, cpus: int) -> Iterable[Any]:
    import ray.data
    from ray.data.block import BlockMetadata

    import daliesque.ray as ndr

    batches = count_images(root) // BATCH

    class Ready(ray.data.Datasource):  # type: ignore[misc]
        """As many tasks and bytes as those of ray.read."""

        def estimate_inmemory_data_size(self) -> int:
            return batches * BATCH * 3 * SIZE * SIZE * 4

        def get_read_tasks(self, parallelism: int, *_others: Any, **_named: Any) -> list[Any]:
            def task(first: int) -> Any:
                numbers = range(first, batches, parallelism)
                metadata = BlockMetadata(len(numbers) * BATCH, None, None, None)
                return ray.data.ReadTask(lambda: (ready_block() for _ in numbers), metadata)

            return list(map(task, range(parallelism)))

    tasks = max(1, min(4, batches // 4))
    made = ray.data.read_datasource(Ready(), num_cpus=cpus, override_num_blocks=tasks)
    return ndr.iter_torch(made, batch_size=BATCH, copy=False)


def count_images(root: str) -> int:
    """How many images a folder has."""
    return sum(1 for _ in Path(root).rglob("*.jpg"))


def without_ray(root: str, cpus: int) -> Iterable[Any]:
    import daliesque as ndd

    ndd.set_num_threads(cpus)
    return ndd.pytorch.DataLoader(ndd.readers.File(file_root=root), body, batch_size=BATCH)


def tensors(dataset: Any) -> Iterable[Any]:
    """Batches of a data set of Ray, as its own documentation delivers them."""
    return dataset.iter_torch_batches(batch_size=BATCH)


CONTESTANTS: dict[str, Contestant] = {
    "read_images + torchvision": read_images,
    "binary + torchvision": binary_torchvision,
    "binary + Transform": binary_transform,
    "ray.read": ray_read,
    "no Ray": without_ray,
    "Ray alone": ready_blocks,
}


class Watch(threading.Thread):
    """Looks at this process and all that came from it: memory, and time of processors."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.private = self.shared = 0
        self._over = threading.Event()

    def run(self) -> None:
        """The thread."""
        while not self._over.wait(0.2):
            statuses = [_fields(pid) for pid in family()]
            self.private = max(self.private, sum(s.get("RssAnon", 0) for s in statuses))
            self.shared = max(self.shared, max((s.get("RssShmem", 0) for s in statuses), default=0))

    def stop(self) -> None:
        """End the thread."""
        self._over.set()
        self.join()


def _fields(pid: int) -> dict[str, int]:
    """Kilobytes of memory, by their names in /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = [line.split(":") for line in lines if line.startswith("Rss")]
    return {name: int(value.split()[0]) for name, value in pairs}


def family() -> list[int]:
    """This process, and all that it and its children have started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(after_name[1])
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return sorted(found)
        found |= more


def processor_seconds() -> float:
    """What all these processes have used so far; those that have ended count for their parents."""
    ticks = 0
    for pid in family():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(name: str, root: str, cpus: int) -> dict[str, float]:
    """Run one contestant in this process."""
    uses_ray = name != "no Ray"
    if uses_ray:
        import ray
        import ray.data

        ray.init(
            address="local",
            num_cpus=cpus,
            object_store_memory=STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
        )
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        # Else Ray keeps one of two CPUs free, for operators that are not there. Tasks that take
        # both do not need that, and run less smoothly.
        context.op_resource_reservation_enabled = name in ("ray.read", "Ray alone")
    passes = [measure_pass(CONTESTANTS[name](root, cpus), uses_ray) for _ in range(1 + PASSES)]
    return {key: statistics.median(one[key] for one in passes[1:]) for key in passes[0]}


def measure_pass(made: Iterable[Any], uses_ray: bool) -> dict[str, float]:
    """Read all images once."""
    watch = Watch()
    watch.start()
    before, start = processor_seconds(), time.perf_counter()
    first, images = 0.0, 0
    for batch in _batches(made):
        first = first or time.perf_counter() - start
        images += len(batch)
        assert tuple(batch.shape[1:]) == (3, SIZE, SIZE), batch.shape
    seconds = time.perf_counter() - start
    used = processor_seconds() - before
    watch.stop()
    return {
        "images": images,
        "rate": images / seconds,
        "per_cpu": images / used,
        "first": first,
        "private": watch.private / 1024,
        "store": watch.shared / 1024 if uses_ray else 0.0,
    }


def _batches(made: Iterable[Any]) -> Iterator[Any]:
    for batch in made:
        yield batch["image"]


def make_folder(source: Path, target: Path, count: int) -> None:
    """A folder with `count` images, which are copies of those of another one."""
    files = sorted(path for path in source.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not files:
        sys.exit(f"there are no JPEG files in {source}")
    (target / "class").mkdir(parents=True)
    for number in range(count):
        content = files[number % len(files)].read_bytes()
        (target / "class" / f"{number:06}.jpg").write_bytes(content)


def main() -> None:
    """Run all of them, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--images", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=CONTESTANTS, action="append", help="may be repeated")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        found = measure(options.only[0], str(options.root), options.cpus)
        print("result", json.dumps(found), flush=True)
        return
    names = options.only or list(CONTESTANTS)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        make_folder(options.root, Path(folder, "images"), options.images)
        for _ in range(options.rounds):
            for name in names:
                results[name].append(run_alone(name, folder, options.cpus))
                print(f"{name}: {results[name][-1]['rate']:.4g} images/s", flush=True)
    print_table(results)


def run_alone(name: str, folder: str, cpus: int) -> dict[str, float]:
    """What a contestant measures in a process of its own."""
    arguments = [f"{folder}/images", "--alone", "--only", name, "--cpus", str(cpus)]
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "RAY_AUTH_MODE": "disabled", "OMP_NUM_THREADS": "1"},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("result ")]
    if not lines:
        sys.exit(f"{name} failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(lines[-1].removeprefix("result "))
    return found


def print_table(results: dict[str, list[dict[str, float]]]) -> None:
    """The medians, and the rates relative to those of others."""
    medians = {
        name: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        for name, rows in results.items()
    }
    head = ("images/s", "per CPU-s", "first s", "RSS MB", "store MB")
    print(f"{'':26}" + "".join(f"{text:>11}" for text in head))
    for name, row in medians.items():
        values = (row["rate"], row["per_cpu"], row["first"], row["private"], row["store"])
        print(f"{name:26}" + "".join(f"{value:11.4g}" for value in values))
    for one, other in (
        ("ray.read", "read_images + torchvision"),
        ("ray.read", "binary + torchvision"),
        ("ray.read", "no Ray"),
        ("binary + Transform", "no Ray"),
    ):
        if one in medians and other in medians:
            ratio = medians[one]["rate"] / medians[other]["rate"]
            cpu = medians[one]["per_cpu"] / medians[other]["per_cpu"]
            print(f"{one} / {other}: {ratio:.2f} (per CPU-second {cpu:.2f})")
    if {"ray.read", "no Ray", "Ray alone"} <= set(medians):
        own, alone = medians["no Ray"]["per_cpu"], medians["Ray alone"]["per_cpu"]
        bound = 1 / (1 / own + 1 / alone)
        print(
            f"CPU ms per image: no Ray {1000 / own:.3f}, Ray alone {1000 / alone:.3f}; so ray.read "
            f"/ no Ray is at most {bound / own:.2f}, of which ray.read reaches "
            f"{medians['ray.read']['per_cpu'] / bound:.2f} per CPU-second"
        )


if __name__ == "__main__":
    main()
