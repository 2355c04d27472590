# SPDX-License-Identifier: Apache-2.0
"""Readers: one class for each format, over `base.Reader`."""
