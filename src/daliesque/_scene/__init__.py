# SPDX-License-Identifier: Apache-2.0
"""Scenes: an image and what is known about it, which go through operators together.

`scene.py` has the class, `dispatch.py` decides what an operator does to a scene, `operators.py`
lists the operators with what they do to coordinates, as objects of `geometry.py`, and `moves.py`
applies those to boxes, masks and points.
"""
