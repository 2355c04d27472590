# SPDX-License-Identifier: Apache-2.0
"""Rows of `benchmarks/peers.py`: operators on 32 images of 512x512x3, mostly against OpenCV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import daliesque as ndd

from .peer_row import Array, Call, Row, pictures

Images = Callable[[Any], Any]
MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]
MATRIX = np.float32([[0.9, 0.2, 10], [-0.15, 1.1, -5]])
PERSPECTIVE = np.float32([[0.9, 0.1, 5], [-0.1, 1.0, 8], [1e-4, 5e-5, 1]])


def images(
    target: float, ours: Images, dtype: Any = np.uint8, channels: int = 3, **peers: Images
) -> Row:
    """A batch for us, a loop over arrays for the others; torch and torchvision get a dense tensor.

    Arguments are named like the libraries, with `_` for `-` and `__` for the star of other work.
    """

    def make() -> dict[str, Call]:
        arrays = np.ascontiguousarray(pictures()[..., :channels]).astype(dtype)
        batch = ndd.batch(arrays, layout="HWC").evaluate()
        calls: dict[str, Call] = {"daliesque": lambda: ours(batch).evaluate()}
        for name, function in peers.items():
            key = name.replace("__", "*").replace("_", "-")
            calls[key] = peer_call(key, function, arrays)
        return calls

    return Row(make, target)


def peer_call(name: str, function: Images, arrays: Array) -> Call:
    library = name.partition("-")[0].rstrip("*")
    made: list[Any] = []

    def prepared() -> Any:
        if not made:
            if library in ("torch", "torchvision"):
                import torch

                planes = torch.from_numpy(arrays).permute(0, 3, 1, 2)
                # Images as its users have them, channel by channel or pixel by pixel.
                made.append(planes if name.endswith("-hwc") else planes.contiguous())
            elif library == "PIL":
                from PIL import Image

                made.append([Image.fromarray(image) for image in arrays])
            else:
                made.append(list(arrays))
        return made[0]

    if library in ("torch", "torchvision"):
        return lambda: function(prepared())
    return lambda: [function(image) for image in prepared()]


def rotated_by_opencv(image: Array, nearest: bool = False) -> Array:
    import cv2

    matrix = cv2.getRotationMatrix2D((255.5, 255.5), 30, 1)
    how = cv2.INTER_NEAREST if nearest else cv2.INTER_LINEAR
    return cv2.warpAffine(image, matrix, (512, 512), flags=how)


def sigma_row(sigma: float, dtype: Any = np.uint8) -> Row:
    """OpenCV with the window that we use, so that both do the same work."""

    def by_opencv(image: Array) -> Array:
        import cv2

        window = 2 * int(np.ceil(3 * sigma)) + 1
        border = cv2.BORDER_REFLECT_101
        return cv2.GaussianBlur(image, (window, window), sigma, borderType=border)

    return images(1.3, lambda x: ndd.gaussian_blur(x, sigma=sigma), dtype=dtype, cv2=by_opencv)


def size_row(size: int, interp: ndd.types.DALIInterpType, target: float) -> Row:
    names = {
        ndd.types.DALIInterpType.INTERP_LINEAR: "bilinear",
        ndd.types.DALIInterpType.INTERP_CUBIC: "bicubic",
    }

    def by_torchvision(planes: Any) -> Any:
        import torch.nn.functional

        # What torchvision's resize calls; channels last is its fastest way for bytes.
        return torch.nn.functional.interpolate(
            planes, size=(size, size), mode=names[interp], antialias=True
        )

    def by_pillow(image: Any) -> Any:
        from PIL import Image

        how = getattr(Image.Resampling, names[interp].upper())
        return image.resize((size, size), how)

    ours = lambda x: ndd.resize(x, size=[size, size], interp_type=interp)  # noqa: E731
    return images(
        target,
        ours,
        torchvision_chw=by_torchvision,
        torchvision_hwc=by_torchvision,
        PIL=by_pillow,
    )


def filter_row(side: int, target: float) -> Row:
    weights = np.random.default_rng(3).uniform(-0.2, 0.2, (side, side)).astype(np.float32)

    def by_opencv(image: Array) -> Array:
        import cv2

        return cv2.filter2D(image, -1, weights, borderType=cv2.BORDER_REFLECT_101)

    return images(target, lambda x: ndd.filter(x, weights), cv2=by_opencv)


def opencv(call: Callable[[Any, Array], Any]) -> Images:
    def run(image: Array) -> Any:
        import cv2

        return call(cv2, image)

    return run


def rectangle(cv2: Any, side: int) -> Any:
    return cv2.getStructuringElement(cv2.MORPH_RECT, (side, side))


def erased(image: Array) -> Array:
    out = image.copy()
    out[100:300, 50:350] = 0
    return out


def compressed(cv2: Any, image: Array) -> Array:
    stream = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 30])[1]
    out: Array = cv2.imdecode(stream, cv2.IMREAD_COLOR)
    return out


def crop_row() -> Row:
    """All into one array, as a batch is."""

    def make() -> dict[str, Call]:
        arrays = pictures()
        batch = ndd.batch(arrays, layout="HWC").evaluate()

        def by_torch() -> Any:
            import torch

            return torch.from_numpy(arrays)[:, 144:368, 144:368].contiguous()

        return {
            "daliesque": lambda: ndd.crop(batch, crop=(224, 224)).evaluate(),
            "numpy": lambda: np.ascontiguousarray(arrays[:, 144:368, 144:368]),
            "torch": by_torch,
        }

    return Row(make, 1.0)


LINEAR, CUBIC = ndd.types.DALIInterpType.INTERP_LINEAR, ndd.types.DALIInterpType.INTERP_CUBIC
NEAREST = ndd.types.DALIInterpType.INTERP_NN
RGB, GRAY = ndd.types.DALIImageType.RGB, ndd.types.DALIImageType.GRAY
BGR, YCBCR = ndd.types.DALIImageType.BGR, ndd.types.DALIImageType.YCbCr
dilate, erode = ndd.experimental.dilate, ndd.experimental.erode
median_blur = ndd.experimental.median_blur

ROWS: dict[str, Row] = {
    **{
        f"dilate {side}": images(
            1.5,
            lambda x, side=side: dilate(x, mask_size=(side, side)),
            cv2=opencv(lambda cv2, i, side=side: cv2.dilate(i, rectangle(cv2, side))),
        )
        for side in (3, 5, 15, 31)
    },
    **{
        f"erode {side}": images(
            1.5,
            lambda x, side=side: erode(x, mask_size=(side, side)),
            cv2=opencv(lambda cv2, i, side=side: cv2.erode(i, rectangle(cv2, side))),
        )
        for side in (3, 15)
    },
    "dilate 15 f32": images(
        1.5,
        lambda x: dilate(x, mask_size=(15, 15)),
        np.float32,
        cv2=opencv(lambda cv2, i: cv2.dilate(i, rectangle(cv2, 15))),
    ),
    **{
        f"median_blur {side}": images(
            target,
            lambda x, side=side: median_blur(x, window_size=(side, side)),
            cv2=opencv(lambda cv2, i, side=side: cv2.medianBlur(i, side)),
        )
        for side, target in ((3, 1.3), (5, 1.3), (9, 1.3))
    },
    "rotate 30 keep_size": images(
        1.3, lambda x: ndd.rotate(x, angle=30, keep_size=True), cv2=rotated_by_opencv
    ),
    "rotate 30 nearest": images(
        1.3,
        lambda x: ndd.rotate(x, angle=30, keep_size=True, interp_type=NEAREST),
        cv2=lambda image: rotated_by_opencv(image, nearest=True),
    ),
    "rotate 30 f32": images(
        1.3,
        lambda x: ndd.rotate(x, angle=30, keep_size=True),
        np.float32,
        cv2=rotated_by_opencv,
    ),
    "rotate 30 f32 nearest": images(
        1.3,
        lambda x: ndd.rotate(x, angle=30, keep_size=True, interp_type=NEAREST),
        np.float32,
        cv2=lambda image: rotated_by_opencv(image, nearest=True),
    ),
    **{f"gaussian_blur sigma {sigma:g}": sigma_row(sigma) for sigma in (0.5, 1, 1.5, 3, 5, 15)},
    **{f"gaussian_blur sigma {sigma:g} f32": sigma_row(sigma, np.float32) for sigma in (0.5, 1.5)},
    "crop 224": crop_row(),
    "erase": images(1.0, lambda x: ndd.erase(x, anchor=(100, 50), shape=(200, 300)), numpy=erased),
    "resize to 64 linear": size_row(64, LINEAR, 1.5),
    "resize to 64 cubic": size_row(64, CUBIC, 1.5),
    "resize to 224 linear": size_row(224, LINEAR, 1.5),
    "resize to 224 cubic": size_row(224, CUBIC, 1.5),
    "resize to 700 linear": size_row(700, LINEAR, 1.5),
    **{f"filter {side}x{side}": filter_row(side, 2.0) for side in (3, 5, 11)},
    "jpeg_compression_distortion 30": images(
        2.0, lambda x: ndd.jpeg_compression_distortion(x, quality=30), cv2=opencv(compressed)
    ),
    "flip horizontal": images(
        1.0, lambda x: ndd.flip(x), cv2=opencv(lambda cv2, i: cv2.flip(i, 1))
    ),
    "flip vertical": images(
        1.0,
        lambda x: ndd.flip(x, horizontal=0, vertical=1),
        cv2=opencv(lambda cv2, i: cv2.flip(i, 0)),
    ),
    "RGB to BGR": images(
        1.0,
        lambda x: ndd.color_space_conversion(x, image_type=RGB, output_type=BGR),
        cv2=opencv(lambda cv2, i: cv2.cvtColor(i, cv2.COLOR_RGB2BGR)),
    ),
    "RGB to gray": images(
        1.0,
        lambda x: ndd.color_space_conversion(x, image_type=RGB, output_type=GRAY),
        cv2=opencv(lambda cv2, i: cv2.cvtColor(i, cv2.COLOR_RGB2GRAY)),
    ),
    "RGB to YCbCr": images(
        1.0,
        lambda x: ndd.color_space_conversion(x, image_type=RGB, output_type=YCBCR),
        cv2=opencv(lambda cv2, i: cv2.cvtColor(i, cv2.COLOR_RGB2YCrCb)),
    ),
    "warp_affine": images(
        1.0,
        lambda x: ndd.warp_affine(x, matrix=MATRIX, fill_value=0),
        cv2=opencv(
            lambda cv2, i: cv2.warpAffine(
                i, MATRIX, (512, 512), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            )
        ),
    ),
    "warp_perspective": images(
        1.0,
        lambda x: ndd.experimental.warp_perspective(x, matrix=PERSPECTIVE, fill_value=0),
        cv2=opencv(
            lambda cv2, i: cv2.warpPerspective(
                i, PERSPECTIVE, (512, 512), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            )
        ),
    ),
    "laplacian 3": images(
        1.0,
        lambda x: ndd.laplacian(x, dtype=ndd.uint8),
        cv2=opencv(lambda cv2, i: cv2.Laplacian(i, cv2.CV_8U, ksize=3)),
    ),
    "equalize": images(
        1.0,
        lambda x: ndd.equalize(x),
        channels=1,
        cv2=opencv(lambda cv2, i: cv2.equalizeHist(i)),
    ),
    "brightness_contrast": images(
        1.0,
        lambda x: ndd.brightness_contrast(x, brightness=1.1, contrast=0.9),
        cv2=opencv(lambda cv2, i: cv2.convertScaleAbs(i, alpha=0.99, beta=14.08)),
    ),
    "pad 600": images(
        1.0,
        lambda x: ndd.pad(x, axes=(0, 1), shape=(600, 600)),
        cv2=opencv(
            lambda cv2, i: cv2.copyMakeBorder(i, 0, 88, 0, 88, cv2.BORDER_CONSTANT, value=0)
        ),
    ),
}
