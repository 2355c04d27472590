# SPDX-License-Identifier: Apache-2.0
"""readers.COCO, compared with the JSON itself and with the functions that come with COCO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from daliesque import _kernels
from support.coco_data import make_dataset
from support.reader_properties import assert_is_a_reader


def read(root: Path, **arguments: Any) -> list[list[NDArray[Any]]]:
    """The outputs for each image of an epoch."""
    if "preprocessed_annotations" not in arguments:
        arguments = {"annotations_file": root / "instances.json", **arguments}
    reader = ndd.readers.COCO(file_root=root, **arguments)
    found = []
    for step in reader.next_epoch():
        found.append([np.array(output) for output in step])
        assert bytes(found[-1][0]).decode() == step[0].source
    return found


def expected_annotations(data: dict[str, Any], image: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        a
        for a in data["annotations"]
        if a["image_id"] == image["id"] and min(np.float32(a["bbox"][2:])) >= np.float32(0.1)
    ]


def in_order(data: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(data["images"], key=lambda image: int(image["id"]))


LABELS = {3: 1, 17: 2, 4: 3, 90: 4}


def test_boxes_and_labels(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    found = read(tmp_path, image_ids=True)
    assert len(found) == len(data["images"])
    for image, (contents, boxes, labels, number) in zip(in_order(data), found, strict=True):
        expected = expected_annotations(data, image)
        assert bytes(contents).decode() == image["file_name"]
        assert (boxes.dtype, labels.dtype, number.dtype) == ("f4", "i4", "i4")
        assert boxes.shape == (len(expected), 4)
        assert boxes.tolist() == [np.float32(a["bbox"]).tolist() for a in expected]
        assert labels.tolist() == [LABELS[a["category_id"]] for a in expected]
        assert number.tolist() == [image["id"]]


def test_forms_of_boxes(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    arguments = {"ltrb": True, "ratio": True, "avoid_class_remapping": True}
    for image, (_, boxes, labels) in zip(in_order(data), read(tmp_path, **arguments), strict=True):
        expected = expected_annotations(data, image)
        size = np.float32([image["width"], image["height"]] * 2)
        for box, annotation in zip(boxes, expected, strict=True):
            corners = np.float32(annotation["bbox"])
            corners[2:] += corners[:2]
            assert box.tolist() == (corners / size).tolist()
        assert labels.tolist() == [a["category_id"] for a in expected]


def test_empty_images_crowds_and_small_boxes_are_skipped(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    assert len(read(tmp_path, skip_empty=True)) < len(data["images"])
    assert all(len(boxes) for _, boxes, _ in read(tmp_path, skip_empty=True))
    crowds = sum(len(labels) for _, _, labels in read(tmp_path))
    assert sum(len(labels) for _, _, labels in read(tmp_path, include_iscrowd=False)) < crowds
    boxes = np.concatenate([boxes for _, boxes, _ in read(tmp_path, size_threshold=4)])
    assert boxes[:, 2:].min() >= 4
    assert len(boxes) == sum(min(a["bbox"][2:]) >= 4 for a in data["annotations"])


def test_chosen_images(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    names = [data["images"][k]["file_name"] for k in (4, 1, 4)]
    found = read(tmp_path, images=names, image_ids=True)
    assert [int(ids[0]) for *_, ids in found] == [data["images"][k]["id"] for k in (4, 1, 4)]
    with pytest.raises(ValueError, match=r"readers\.COCO: 'images' names \"x\", which \".*\" does"):
        read(tmp_path, images=["x", *names])
    arguments = {"file_root": tmp_path, "annotations_file": tmp_path / "instances.json"}
    reader = ndd.readers.COCO(**arguments, images=["x", *names], on_error="skip")
    assert [error.source for error in reader.errors] == ["x"]
    assert reader.get_metadata()["epoch_size"] == 3


def test_polygons(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    for ratio in (False, True):
        found = read(tmp_path, polygon_masks=True, ratio=ratio)
        for image, (_, _, _, polygons, vertices) in zip(in_order(data), found, strict=True):
            size = np.float32([image["width"], image["height"]])
            outlines = []
            for number, annotation in enumerate(expected_annotations(data, image)):
                if isinstance(annotation["segmentation"], list):
                    outlines += [(number, part) for part in annotation["segmentation"]]
            assert polygons.shape == (len(outlines), 3)
            end = 0
            for (number, part), (box, first, last) in zip(outlines, polygons, strict=True):
                assert (box, first, last) == (number, end, end + len(part) // 2)
                points = np.float32(part).reshape(-1, 2)
                np.testing.assert_array_equal(
                    vertices[first:last], points / size if ratio else points
                )
                end = last
            assert len(vertices) == end


def test_old_names(tmp_path: Path) -> None:
    make_dataset(tmp_path)
    with pytest.warns(DeprecationWarning, match=r"COCO: 'masks' is deprecated\. Use 'poly"):
        old = read(tmp_path, masks=True)
    new = read(tmp_path, polygon_masks=True)
    for before, after in zip(old, new, strict=True):
        np.testing.assert_array_equal(before[3], after[3] * [1, 2, 2])
    with pytest.warns(DeprecationWarning, match="'save_img_ids' is deprecated"):
        assert len(read(tmp_path, save_img_ids=True)[0]) == 4


def coco_functions() -> Any:
    from pycocotools import mask

    return mask


def picture(data: dict[str, Any], image: dict[str, Any]) -> NDArray[Any]:
    """The mask as the COCO functions draw it, object by object in the order of labels."""
    mask = coco_functions()
    size = (image["height"], image["width"])
    out = np.zeros(size, np.int32)
    annotations = expected_annotations(data, image)
    for annotation in sorted(annotations, key=lambda a: LABELS[a["category_id"]]):
        parts = annotation["segmentation"]
        if isinstance(parts, list):
            parts = [np.float32(part).astype(float).tolist() for part in parts]
        encoded = mask.frPyObjects(parts, *size)
        drawn = mask.decode(encoded)
        drawn = drawn.any(axis=2) if drawn.ndim == 3 else drawn.astype(bool)
        out[drawn] = LABELS[annotation["category_id"]]
    return out[..., np.newaxis]


# The functions that come with COCO do not know the newest NumPy.
old_numpy = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@old_numpy
@pytest.mark.parametrize("seed", range(5))
def test_masks(tmp_path: Path, seed: int) -> None:
    data = make_dataset(tmp_path, 12, seed)
    found = read(tmp_path, pixelwise_masks=True)
    for image, outputs in zip(in_order(data), found, strict=True):
        assert outputs[3].dtype == np.int32
        np.testing.assert_array_equal(outputs[3], picture(data, image))


def test_layout_of_masks(tmp_path: Path) -> None:
    make_dataset(tmp_path)
    arguments = {"file_root": tmp_path, "annotations_file": tmp_path / "instances.json"}
    step = next(ndd.readers.COCO(**arguments, pixelwise_masks=True).next_epoch(batch_size=3))
    assert [output.layout for output in step] == [None, None, None, "HWC"]


@old_numpy
def test_outlines_of_all_kinds(tmp_path: Path) -> None:
    """Outside of the image, without area, of one or two points, on pixel edges."""
    rng = np.random.default_rng(3)
    data = make_dataset(tmp_path, 1)
    outlines = [
        [0, 0, 20, 0, 20, 20, 0, 20],
        [-5, -5, 30, 10, 10, 30],
        [1e9, 0, -1e9, 5, 3, 1e9],
        [5, 5, 5, 5, 5, 5],
        [3, 3],
        [3, 3, 9, 9],
        [0.5, 0.5, 9.5, 0.5, 9.5, 9.5, 0.5, 9.5],
        *[(rng.uniform(-20, 40, 2 * n)).tolist() for n in range(3, 20)],
        *[rng.integers(-3, 25, 2 * n).tolist() for n in range(3, 20)],
    ]
    data["images"] = [
        {"file_name": f"{k}.jpg", "id": k, "width": 21, "height": 19} for k in range(len(outlines))
    ]
    data["annotations"] = [
        {"segmentation": [part], "image_id": k, "category_id": 17, "bbox": [1, 1, 9, 9]}
        for k, part in enumerate(outlines)
    ]
    for image in data["images"]:
        (tmp_path / image["file_name"]).write_text(image["file_name"])
    (tmp_path / "instances.json").write_text(json.dumps(data))
    found = read(tmp_path, pixelwise_masks=True)
    for k, (image, outputs) in enumerate(zip(data["images"], found, strict=True)):
        # Beyond the range of integers, and with fewer than three points, the COCO functions mean
        # something else.
        if k != 2 and len(outlines[k]) >= 6:
            np.testing.assert_array_equal(outputs[3], picture(data, image), err_msg=str(k))


def test_compressed_runs(tmp_path: Path) -> None:
    mask = coco_functions()
    data = make_dataset(tmp_path)
    expected = read(tmp_path, pixelwise_masks=True)
    for annotation in data["annotations"]:
        runs = annotation["segmentation"]
        if isinstance(runs, dict):
            runs["counts"] = mask.frPyObjects(runs, *runs["size"])["counts"].decode()
    (tmp_path / "instances.json").write_text(json.dumps(data))
    for before, after in zip(expected, read(tmp_path, pixelwise_masks=True), strict=True):
        np.testing.assert_array_equal(before[3], after[3])


@pytest.mark.parametrize("form", [{}, {"polygon_masks": True}, {"pixelwise_masks": True}])
def test_preprocessed(tmp_path: Path, form: dict[str, Any]) -> None:
    make_dataset(tmp_path)
    (tmp_path / "saved").mkdir()
    form = {**form, "image_ids": True}
    expected = read(
        tmp_path,
        **form,
        ltrb=True,
        save_preprocessed_annotations=True,
        save_preprocessed_annotations_dir=tmp_path / "saved",
    )
    found = read(tmp_path, **form, preprocessed_annotations=tmp_path / "saved")
    for before, after in zip(expected, found, strict=True):
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)
    for name in ("boxes.dat", "counts.dat"):
        path = tmp_path / "saved" / name
        content = path.read_bytes()
        for damage in (content[:-1], content[:2], content[:-4], content + bytes(4)):
            path.write_bytes(damage)
            with pytest.raises(ndd.DecodeError, match=r'readers\.COCO: ".*\.dat" .*belong'):
                read(tmp_path, **form, preprocessed_annotations=tmp_path / "saved")
        path.write_bytes(content)
    if "pixelwise_masks" in form:
        path = tmp_path / "saved" / "masks_rles.dat"
        path.write_bytes(path.read_bytes()[:-2])
        with pytest.raises(ndd.DecodeError, match=r'masks_rles\.dat" is cut short'):
            read(tmp_path, **form, preprocessed_annotations=tmp_path / "saved")


TEXT = '{"images": [{"id": 1, "file_name": "a"}], "annotations": [], "categories": []}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1, column 1: the file ends early"),
        (TEXT[:-1], "the file ends early"),
        (TEXT[:30], "the file ends early"),
        ("[]", "line 1, column 1: an object is expected"),
        (TEXT + "x", "this is not JSON"),
        (TEXT.replace("[]", "{}", 1), "a list is expected"),
        (TEXT.replace("1,", "1"), "this is not JSON"),
        (TEXT.replace("1", "x"), "a number is expected"),
        (TEXT.replace("1", "1.5"), "an integer is expected"),
        (TEXT.replace('"a"', "7"), "a string is expected"),
        (TEXT.replace("{", '{\n\n"x": nil, ', 1), "line 3, column 6: this is not JSON"),
        (TEXT.replace('"id": 1, ', ""), 'entry 0 of "images" in ".*" lacks "id"'),
        (TEXT.replace('"id": 1, "file_name": "a"', '"id": 1'), 'lacks "file_name"'),
        (TEXT.replace("[]", "[{}]", 1), 'entry 0 of "annotations" in ".*" lacks "image_id"'),
        (
            TEXT.replace("[]", '[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3]}]', 1),
            'entry 0 of "annotations" in ".*" has no box of 4 numbers',
        ),
        (TEXT.replace('categories": []', 'categories": [{}]'), 'entry 0 of "categories" in ".*"'),
    ],
)
def test_damaged_json(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "instances.json").write_text(text)
    with pytest.raises(ndd.DecodeError, match=rf"readers\.COCO: .*{reason}"):
        read(tmp_path)


def test_json_of_all_kinds() -> None:
    """Escapes, numbers and spaces as Python's own parser reads them."""
    name = 'a"\\/\b\f\n\r\t\u00e9\u20ac\U0001f600'
    image = {"id": 2**40, "file_name": name, "width": 10, "height": 10}
    box = {"image_id": 2**40, "category_id": -5, "bbox": [1e-3, -1.5e2, 1.25e2, 300]}
    data = {"images": [image], "annotations": [box], "other": [[], {}, "x", -1.0, False, None]}
    wanted = (0.1, True, False, False, False, False, True, True, None)
    for text in (json.dumps(data), json.dumps(data, indent=2, ensure_ascii=False)):
        found = _kernels.parse_coco(text.encode(), *wanted)
        assert found["names"] == [name.encode()]
        assert found["ids"].tolist() == [2**40]
        np.testing.assert_array_equal(found["boxes"], np.float32([box["bbox"]]))
        assert found["labels"].tolist() == [-5]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"bbox": [200, 3, 5, 5]}, "the box of entry 0 of .* lies outside of the image"),
        ({"bbox": [-9, 3, 5, 5]}, "the box of entry 0 of .* lies outside of the image"),
        ({"category_id": 5}, 'has the category 5, which "categories" does not list'),
        ({"segmentation": [[1, 2, 3]]}, "a polygon of entry 0 .* has 3 coordinates, which is an"),
        ({"segmentation": {"size": [1, 2], "counts": [1, 1]}}, "the runs of entry 0 .* are not"),
        ({"segmentation": {"size": [1, 2]}}, "the runs of entry 0 .* are not"),
        ({"segmentation": {"size": [1, 2], "counts": "\u00e9"}}, "the runs of entry 0 .* are not"),
    ],
)
def test_bad_annotations(tmp_path: Path, values: dict[str, Any], reason: str) -> None:
    """They spoil one image only."""
    data = make_dataset(tmp_path)
    data["annotations"][0] |= {"bbox": [1, 1, 5, 5], **values}
    (tmp_path / "instances.json").write_text(json.dumps(data))
    name = next(
        image["file_name"]
        for image in data["images"]
        if image["id"] == data["annotations"][0]["image_id"]
    )
    arguments = {"file_root": tmp_path, "annotations_file": tmp_path / "instances.json"}
    reader = ndd.readers.COCO(**arguments, pixelwise_masks=True)
    with pytest.raises(ndd.OpError, match=rf'cannot read ".*{name}" .*: .*{reason}'):
        for _ in reader.next_epoch(batch_size=3):
            pass
    reader = ndd.readers.COCO(**arguments, pixelwise_masks=True, on_error="skip")
    seen = [source for step in reader.next_epoch(batch_size=1) for source in step[0].source]
    assert name not in seen
    assert [Path(error.source).name for error in reader.errors] == [name]


def test_missing_sizes(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    for image in data["images"]:
        del image["width"]
    (tmp_path / "instances.json").write_text(json.dumps(data))
    assert len(read(tmp_path)) == 8
    with pytest.raises(ndd.OpError, match="does not give the width and height of the image"):
        read(tmp_path, ratio=True)


def test_missing_image_files(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    (tmp_path / in_order(data)[2]["file_name"]).unlink()
    arguments = {"file_root": tmp_path, "annotations_file": tmp_path / "instances.json"}
    with pytest.raises(FileNotFoundError, match=r"readers\.COCO: cannot read .* \(sample 2 of"):
        next(ndd.readers.COCO(**arguments).next_epoch(batch_size=4))
    reader = ndd.readers.COCO(**arguments, on_error="skip", image_ids=True)
    *_, ids = next(reader.next_epoch(batch_size=4))
    assert ids.torch().flatten().tolist() == [10, 11, 13, 14]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ValueError, "there is nothing to read. Give 'annotations_file'"),
        ({"annotations_file": "no/such"}, FileNotFoundError, 'cannot read "no/such": No such file'),
        ({"preprocessed_annotations": "no/such"}, FileNotFoundError, 'filenames.dat": No such'),
        ({"preprocessed_annotations": "x", "ratio": False}, ValueError, "'ratio' exclude each"),
        ({"preprocessed_annotations": "x", "annotations_file": "y"}, ValueError, "exclude each"),
        (
            {"annotations_file": "x", "polygon_masks": True, "pixelwise_masks": True},
            ValueError,
            "'polygon_masks' and 'pixelwise_masks' exclude each other",
        ),
        ({"annotations_file": "x", "save_preprocessed_annotations": True}, ValueError, "Give both"),
        ({"annotations_file": "x", "skip_cached_images": True}, ValueError, "is not supported"),
        ({"annotations_file": "x", "images": "a"}, TypeError, "'images' must be a list of names"),
        ({"annotations_file": "x", "size_threshold": "a"}, TypeError, "'size_threshold' must be"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error) as caught:
        ndd.readers.COCO(**arguments)
    assert str(caught.value).startswith("readers.COCO: ")
    assert match in str(caught.value)


def test_no_images(tmp_path: Path) -> None:
    (tmp_path / "instances.json").write_text("{}")
    with pytest.raises(ValueError, match=r'readers\.COCO: No files found in ".*instances\.json"'):
        read(tmp_path)


def test_is_a_reader(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)

    def make(**options: Any) -> ndd.readers.COCO:
        return ndd.readers.COCO(
            file_root=tmp_path,
            annotations_file=tmp_path / "instances.json",
            pixelwise_masks=True,
            image_ids=True,
            **options,
        )

    assert_is_a_reader(make, [image["file_name"] for image in data["images"]])
