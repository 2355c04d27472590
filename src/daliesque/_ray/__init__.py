# SPDX-License-Identifier: Apache-2.0
"""Readers and loop bodies in Ray Data. Modules here load Ray; `daliesque.ray` loads them."""
