# SPDX-License-Identifier: Apache-2.0
"""What surrounds a loop: external sources, and functions of the user as operators."""
