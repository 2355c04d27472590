# SPDX-License-Identifier: Apache-2.0
"""Random data sets in the format of COCO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def make_dataset(
    root: Path, count: int = 8, seed: int = 0, runs: bool = True, mixed: bool = True
) -> dict[str, Any]:
    """Write image files (their contents are their names) and "instances.json"; return the latter.

    The last image has no boxes. Nothing touches the first or last pixel, and unless `mixed`, a
    class is given by runs at most once in an image and not by polygons as well: there the reference
    has rules of its own.
    """
    rng = np.random.default_rng(seed)
    root.mkdir(parents=True, exist_ok=True)
    images, annotations = [], []
    categories = [{"id": int(k), "name": f"class {k}"} for k in (3, 17, 4, 90)]
    order = rng.permutation(count)
    for k in order.tolist():
        height, width = rng.integers(20, 60, 2).tolist()
        name = f"image {k} \u00fc.data"
        (root / name).write_text(name)
        images.append(
            {"license": 1, "file_name": name, "height": height, "width": width, "id": 10 + k}
        )
        has_runs = False
        for _ in range(rng.integers(1, 5) if k != count - 1 else 0):
            category = int(rng.choice([3, 17, 4, 90]))
            box = rng.uniform(1, 10, 4).round(2).tolist()
            if rng.random() < 0.2:
                box[2] = 0.05
            crowd = runs and rng.random() < 0.3 and (mixed or not has_runs)
            segmentation: Any
            if crowd:
                has_runs = True
                category = category if mixed else 17
                segmentation = {"size": [height, width], "counts": random_runs(rng, height, width)}
            else:
                category = category if mixed or not runs or category != 17 else 3
                least = min(height, width)
                segmentation = [
                    rng.uniform(1, least - 1, 2 * rng.integers(3, 9)).round(2).tolist()
                    for _ in range(rng.integers(1, 3))
                ]
            annotations.append(
                {
                    "segmentation": segmentation,
                    "area": 5.5,
                    "iscrowd": int(crowd),
                    "image_id": 10 + k,
                    "bbox": box,
                    "category_id": category,
                    "id": 1000 + len(annotations),
                }
            )
    data = {
        "info": {"nested": [{"text": 'quote " and ] and \\ and }'}], "none": None, "yes": True},
        "images": images,
        "annotations": [annotations[k] for k in rng.permutation(len(annotations))],
        "categories": categories,
    }
    (root / "instances.json").write_text(json.dumps(data, indent=1))
    return data


def random_runs(rng: np.random.Generator, height: int, width: int) -> list[int]:
    """Lengths of runs that cover an image; the first and last pixels are not in the mask."""
    cuts = np.sort(rng.choice(np.arange(1, height * width - 1), 2 * rng.integers(1, 6), False))
    return [int(n) for n in np.diff([0, *cuts, height * width])]
