# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks measure: tables of rows, the same for both libraries."""
