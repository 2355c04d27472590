# SPDX-License-Identifier: Apache-2.0
"""What operators compute, written plainly with NumPy."""
