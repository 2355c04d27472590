# SPDX-License-Identifier: Apache-2.0
"""Readers: one class for each format here, over `sources` (what they read from) and `core`."""
