# SPDX-License-Identifier: Apache-2.0
"""What operators and readers share: from arguments to windows, sizes and rows of whole batches."""
