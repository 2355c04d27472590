# SPDX-License-Identifier: Apache-2.0
"""What several readers read from: files, lists, archives, columns, clips of videos."""
