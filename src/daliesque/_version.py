# SPDX-License-Identifier: Apache-2.0
"""The version of the package, from which its metadata are made."""

__version__ = "0.1.0"
