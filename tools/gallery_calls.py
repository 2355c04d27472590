# SPDX-License-Identifier: Apache-2.0
"""The calls that the gallery shows, by family.

Each is a line of Python (or several, of which the last gives the result) that may use the names
that `gallery.py` prepares: `image`, `scene`, `jpeg`, `raw`, `mask`, `boxes`, `labels`, `points`,
`polygons`, `vertices`. A result may be a pair of a picture and what to draw on it.
"""

from __future__ import annotations

Family = list[tuple[str, str]]

DECODERS: Family = [
    ("decoders.image", "ndd.decoders.image(jpeg, output_type=ndd.types.GRAY)"),
    ("decoders.image_crop", "ndd.decoders.image_crop(jpeg, crop=[120, 120], crop_pos_x=0.1)"),
    ("decoders.image_random_crop", "ndd.decoders.image_random_crop(jpeg)"),
    (
        "decoders.image_slice",
        "ndd.decoders.image_slice(jpeg, rel_start=[0.5, 0.05], rel_end=[1.0, 0.6])",
    ),
]

SIZES: Family = [
    ("resize", "ndd.resize(image, size=[120, 120])"),
    (
        "resize",
        "ndd.resize(image, roi_start=[80, 10], roi_end=[160, 90], size=[180, 180],"
        " interp_type=ndd.types.INTERP_CUBIC)",
    ),
    ("tensor_resize", "ndd.tensor_resize(image, scales=[0.5, 1.0, 1.0])"),
    (
        "resize_crop_mirror",
        "ndd.resize_crop_mirror(image, resize_shorter=220, crop=[180, 200], mirror=1)",
    ),
    ("random_resized_crop", "ndd.random_resized_crop(image, size=[160, 160])"),
    ("crop", "ndd.crop(image, crop=[110, 130], crop_pos_x=0.8, crop_pos_y=0.1)"),
    ("slice", "ndd.slice(image, rel_start=[0.05, 0.4], rel_end=[0.4, 0.9])"),
    (
        "random_crop_generator",
        "start, shape = ndd.random_crop_generator(ndd.peek_image_shape(jpeg))\n"
        "ndd.slice(image, start=start, shape=shape, axes=[0, 1])",
    ),
    (
        "roi_random_crop",
        "start = ndd.roi_random_crop(crop_shape=[110, 110], in_shape=[180, 240],"
        " roi_start=[80, 15], roi_end=[150, 85])\n"
        "ndd.slice(image, start=start, shape=[110, 110], axes=[0, 1])",
    ),
    (
        "crop_mirror_normalize",
        "ndd.crop_mirror_normalize(image, crop=[160, 160], mirror=1,"
        " mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0])",
    ),
    ("pad", 'ndd.pad(image, axis_names="HW", shape=[200, 260], fill_value=128)'),
]

MOVES: Family = [
    ("flip", "ndd.flip(image, horizontal=1, vertical=0)"),
    ("transpose", "ndd.transpose(image, perm=[1, 0, 2])"),
    ("rotate", "ndd.rotate(image, angle=20, fill_value=0)"),
    ("rotate", "ndd.rotate(image, angle=20, keep_size=True)"),
    ("warp_affine", "ndd.warp_affine(image, matrix=[1, 0.3, -30, 0.1, 0.9, 0], fill_value=90)"),
    (
        "experimental.warp_perspective",
        "ndd.experimental.warp_perspective(image,"
        " matrix=[1.3, 0.35, -70, 0, 1.6, -30, 0, 0.003, 1])",
    ),
    (
        "experimental.remap",
        "y, x = np.mgrid[:180, :240].astype(np.float32)\n"
        "ndd.experimental.remap(image, x + 12 * np.sin(y / 12), y)",
    ),
    ("sphere", "ndd.sphere(image, interp_type=ndd.types.INTERP_LINEAR)"),
    ("water", "ndd.water(image, ampl_x=6, ampl_y=6, interp_type=ndd.types.INTERP_LINEAR)"),
    ("jitter", "ndd.jitter(image, nDegree=6)"),
    ("shear_x", "ndd.shear_x(image, shear=0.3, fill_value=60)"),
    ("shear_y", "ndd.shear_y(image, shear=0.3, fill_value=60)"),
    ("translate_x", "ndd.translate_x(image, offset=40, fill_value=60)"),
    ("translate_y", "ndd.translate_y(image, offset_rel=-0.2, fill_value=60)"),
    ("perspective", "ndd.perspective(image, distortion_scale=0.6, fill_value=60)"),
    ("elastic_transform", "ndd.elastic_transform(image, alpha=120, sigma=6)"),
    ("grid_distortion", "ndd.grid_distortion(image, distort_limit=0.6)"),
]

MATRICES: Family = [
    (f"transforms.{name}", f"ndd.warp_affine(image, ndd.transforms.{call}, fill_value=60)")
    for name, call in (
        ("rotation", "rotation(angle=15, center=[120, 90])"),
        ("scale", "scale(scale=[1.6, 0.8], center=[120, 90])"),
        ("shear", "shear(shear=[0.4, 0], center=[120, 90])"),
        ("translation", "translation(offset=[-50, 20])"),
        ("crop", "crop(from_end=[240, 180], to_start=[10, 70], to_end=[100, 160])"),
    )
] + [
    (
        "transforms.combine",
        "rotated = ndd.transforms.rotation(angle=-30, center=[176, 60])\n"
        "smaller = ndd.transforms.scale(scale=[1.5, 1.5], center=[176, 60])\n"
        "ndd.warp_affine(image, ndd.transforms.combine(rotated, smaller), fill_value=60)",
    )
]

COLORS: Family = [
    ("brightness", "ndd.brightness(image, brightness=1.5)"),
    ("contrast", "ndd.contrast(image, contrast=1.8)"),
    ("brightness_contrast", "ndd.brightness_contrast(image, brightness=0.7, contrast=1.4)"),
    ("hue", "ndd.hue(image, hue=120)"),
    ("saturation", "ndd.saturation(image, saturation=2)"),
    ("hsv", "ndd.hsv(image, hue=-40, saturation=1.3, value=0.9)"),
    (
        "color_twist",
        "ndd.color_twist(image, hue=25, saturation=0.4, brightness=1.2, contrast=0.9)",
    ),
    (
        "color_space_conversion",
        "ndd.color_space_conversion(image, image_type=ndd.types.RGB, output_type=ndd.types.GRAY)",
    ),
    ("invert", "ndd.invert(image)"),
    ("solarize", "ndd.solarize(image, threshold=128)"),
    ("posterize", "ndd.posterize(image, bits=2)"),
    ("gamma", "ndd.gamma(image, gamma=2.2)"),
    ("grayscale", "ndd.grayscale(image)"),
    ("channel_shuffle", "ndd.channel_shuffle(image, order=[2, 0, 1])"),
    ("rgb_shift", "ndd.rgb_shift(image, r_shift=60, b_shift=-60)"),
    ("autocontrast", "ndd.autocontrast(ndd.contrast(image, contrast=0.4))"),
    ("equalize", "ndd.equalize(image)"),
    ("clahe", "ndd.clahe(image, tiles_x=4, tiles_y=4, clip_limit=4.0)"),
    (
        "lookup_table",
        "ndd.lookup_table(image, keys=range(256), values=range(255, -1, -1), dtype=ndd.uint8)",
    ),
    ("normalize", "ndd.normalize(image, axes=[0, 1])"),
    ("debayer", "ndd.debayer(raw, blue_position=[0, 0])"),
]

FILTERS: Family = [
    ("gaussian_blur", "ndd.gaussian_blur(image, sigma=3)"),
    ("motion_blur", "ndd.motion_blur(image, size=15, angle=30)"),
    ("sharpness", "ndd.sharpness(image, sharpness=4)"),
    ("laplacian", "ndd.laplacian(image, window_size=5, dtype=ndd.float32)"),
    (
        "filter",
        "window = np.float32([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])\nndd.filter(image, window)",
    ),
    ("experimental.median_blur", "ndd.experimental.median_blur(image, window_size=[7, 7])"),
    ("experimental.dilate", "ndd.experimental.dilate(image, mask_size=[5, 5])"),
    ("experimental.erode", "ndd.experimental.erode(image, mask_size=[5, 5])"),
]

COMPOSITION: Family = [
    ("paste", "ndd.paste(image, ratio=1.3, fill_value=[70, 30, 110], paste_x=0.2, paste_y=0.7)"),
    (
        "multi_paste",
        "ndd.multi_paste(image, ndd.hue(image, hue=140), output_size=[180, 240],"
        " in_anchors=[[0, 130], [80, 10]], shapes=[[120, 90], [80, 90]],"
        " out_anchors=[[20, 10], [70, 130]])",
    ),
    (
        "erase",
        "ndd.erase(image, anchor=[20, 140, 90, 20], shape=[70, 75, 60, 60],"
        " fill_value=[255, 200, 0])",
    ),
    ("grid_mask", "ndd.grid_mask(image, tile=40, ratio=0.5, angle=0.3)"),
    ("coarse_dropout", "ndd.coarse_dropout(image, num_holes_range=[6, 9])"),
    ("random_erasing", "ndd.random_erasing(image, probability=1, fill_value=[255, 200, 0])"),
    ("cat", 'ndd.cat(image, ndd.flip(image), axis_name="W")'),
    ("jpeg_compression_distortion", "ndd.jpeg_compression_distortion(image, quality=5)"),
]

_OTHERS = (
    "others = [image, ndd.flip(ndd.hue(image, hue=140)), ndd.invert(image), ndd.grayscale(image)]\n"
    'images = ndd.batch(others, layout="HWC")\n'
)

MIXING: Family = [
    ("mixup", _OTHERS + "ndd.mixup(images, lam=0.6, partners=1).tensors[0]"),
    (
        "cutmix",
        _OTHERS + "ndd.cutmix(images, boxes=[120, 30, 220, 150], partners=1).tensors[0]",
    ),
    ("mosaic", _OTHERS + "ndd.mosaic(images, centers=[0.4, 0.6]).tensors[0]"),
    (
        "copy_paste",
        _OTHERS + "masks = ndd.batch([np.array(mask)[:, ::-1]] * 4)\n"
        "ndd.copy_paste(images, masks, partners=1).tensors[0]",
    ),
    (
        "auto_aug.apply",
        'policy = [("rotate", (20, 20), 1.0), ("color", (2, 2), 1.0)]\n'
        "ndd.auto_aug.apply(image, policy=policy)",
    ),
    ("auto_aug.augmix", "ndd.auto_aug.augmix(image, severity=10)"),
]

NOISE: Family = [
    ("noise.gaussian", "ndd.noise.gaussian(image, stddev=30)"),
    ("noise.shot", "ndd.noise.shot(image, factor=30)"),
    ("noise.salt_and_pepper", "ndd.noise.salt_and_pepper(image, prob=0.1)"),
]

GEOMETRY: Family = [
    ("bb_flip", "ndd.flip(image), ndd.bb_flip(boxes, ltrb=True)"),
    (
        "bbox_paste",
        "target = dict(ratio=1.3, paste_x=0.2, paste_y=0.7)\n"
        "ndd.paste(image, fill_value=0, **target), ndd.bbox_paste(boxes, ltrb=True, **target)",
    ),
    (
        "bbox_rotate",
        "rotated = ndd.bbox_rotate(boxes, angle=20, input_shape=[180, 240])\n"
        "ndd.rotate(image, angle=20, fill_value=0), rotated",
    ),
    (
        "random_bbox_crop",
        "start, shape, rest, _ = ndd.random_bbox_crop(boxes, labels, scaling=[0.4, 0.8],"
        " aspect_ratio=[0.7, 1.4], thresholds=[0.1], allow_no_crop=False)\n"
        "ndd.slice(image, start, shape), rest",
    ),
    ("coord_flip", "ndd.flip(image), ndd.coord_flip(points, center_x=120)"),
    (
        "coord_transform",
        "matrix = ndd.transforms.rotation(angle=25, center=[120, 90])\n"
        "ndd.warp_affine(image, matrix, inverse_map=False, fill_value=0),"
        " ndd.coord_transform(points, MT=matrix)",
    ),
    (
        "segmentation.random_object_bbox",
        'start, shape = ndd.segmentation.random_object_bbox(mask, format="anchor_shape")\n'
        "ndd.slice(image, start=start, shape=shape, axes=[0, 1])",
    ),
    (
        "segmentation.random_mask_pixel",
        "row_column = ndd.segmentation.random_mask_pixel(mask, foreground=1)\n"
        "image, np.array(row_column)[None, ::-1]",
    ),
    (
        "segmentation.select_masks",
        "chosen, corners = ndd.segmentation.select_masks([2], polygons, vertices)\n"
        "image, (chosen, corners)",
    ),
]

# Calls with `scene`, the image with boxes, a mask for each box and points, or with `scenes`, a
# batch of it and changed ones.
SCENES: Family = [
    ("flip", "ndd.flip(scene)"),
    ("crop", "ndd.crop(scene, crop=[130, 170], crop_pos_x=0.7, crop_pos_y=0.3)"),
    ("slice", "ndd.slice(scene, rel_start=[0.1, 0.15], rel_end=[0.75, 0.9])"),
    ("resize", "ndd.resize(scene, size=[140, 300])"),
    (
        "resize_crop_mirror",
        "ndd.resize_crop_mirror(scene, resize_shorter=220, crop=[180, 230], mirror=1)",
    ),
    ("tensor_resize", "ndd.tensor_resize(scene, scales=[0.6, 1.1, 1.0])"),
    (
        "random_resized_crop",
        "ndd.random_resized_crop(scene, size=[160, 200], random_area=[0.5, 0.9])",
    ),
    (
        "random_bbox_crop",
        "ndd.random_bbox_crop(scene, scaling=[0.5, 0.8], aspect_ratio=[0.7, 1.4],"
        " allow_no_crop=False)",
    ),
    ("crop_mirror_normalize", "ndd.crop_mirror_normalize(scene, crop=[160, 200], mirror=1)"),
    ("pad", 'ndd.pad(scene, axis_names="HW", shape=[200, 260], fill_value=128)'),
    ("paste", "ndd.paste(scene, ratio=1.3, fill_value=[70, 30, 110], paste_x=0.2, paste_y=0.7)"),
    ("rotate", "ndd.rotate(scene, angle=20, fill_value=0)"),
    ("warp_affine", "ndd.warp_affine(scene, matrix=[1, 0.3, -30, 0.1, 0.9, 0], fill_value=90)"),
    (
        "experimental.warp_perspective",
        "ndd.experimental.warp_perspective(scene,"
        " matrix=[1.3, 0.35, -70, 0, 1.6, -30, 0, 0.003, 1])",
    ),
    (
        "experimental.remap",
        "y, x = np.mgrid[:180, :240].astype(np.float32)\n"
        "ndd.experimental.remap(scene, x + 12 * np.sin(y / 12), y)",
    ),
    ("sphere", "ndd.sphere(scene, interp_type=ndd.types.INTERP_LINEAR)"),
    ("water", "ndd.water(scene, ampl_x=6, ampl_y=6, interp_type=ndd.types.INTERP_LINEAR)"),
    ("elastic_transform", "ndd.elastic_transform(scene, alpha=150, sigma=8)"),
    ("grid_distortion", "ndd.grid_distortion(scene, distort_limit=0.5)"),
    ("perspective", "ndd.perspective(scene, distortion_scale=0.5, fill_value=0)"),
    ("shear_x", "ndd.shear_x(scene, shear=0.2, fill_value=0)"),
    ("shear_y", "ndd.shear_y(scene, shear=-0.15, fill_value=0)"),
    ("translate_x", "ndd.translate_x(scene, offset=35, fill_value=0)"),
    ("translate_y", "ndd.translate_y(scene, offset_rel=0.1, fill_value=0)"),
    (
        "auto_aug.apply",
        'policy = [("rotate", (15, 20), 1.0), ("shear_x", (0.1, 0.2), 1.0)]\n'
        "ndd.auto_aug.apply(scene, policy=policy)",
    ),
    ("mosaic", "ndd.mosaic(scenes, size=[300, 400], centers=[0.45, 0.55])[0]"),
    ("copy_paste", "ndd.copy_paste(scenes)[0]"),
    ("color_twist", "ndd.color_twist(scene, hue=25, saturation=0.4, brightness=1.2)"),
]

FAMILIES: dict[str, Family] = {
    "Decoders": DECODERS,
    "Sizes and windows": SIZES,
    "Pixels that move": MOVES,
    "Matrices": MATRICES,
    "Color and tone": COLORS,
    "Filters": FILTERS,
    "Composition": COMPOSITION,
    "Mixtures and policies": MIXING,
    "Noise": NOISE,
    "Boxes, points and masks": GEOMETRY,
    "Scenes": SCENES,
}
