# SPDX-License-Identifier: Apache-2.0
"""Make index files, which spare readers the search for records.

    python -m daliesque.index train-*.tfrecord validation.tar

writes for each file an index of the same name that ends in ".idx".
"""

from ._readers.index_files import main, rec2idx, tfrecord2idx, wds2idx

__all__ = ["main", "rec2idx", "tfrecord2idx", "wds2idx"]

if __name__ == "__main__":
    main()
