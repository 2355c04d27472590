# SPDX-License-Identifier: Apache-2.0
"""Videos, and image files that the native decoder does not take: from bytes to arrays.

Nothing here knows of samples, batches or operators. The modules import codec libraries, so they
are loaded when the first such file is met.
"""
