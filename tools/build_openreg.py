# SPDX-License-Identifier: Apache-2.0
"""Build torch's simulated accelerator, `torch_openreg`, for the environment that runs this.

    .venv-openreg/bin/python tools/build_openreg.py build/openreg

It is a part of torch's tests: its sources are fetched from torch's repository, at the tag of the
torch that is installed. `--source FOLDER` takes a copy of the folder `torch_openreg` instead.
Nothing of it is kept under version control here. Takes 4 minutes on one core.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

REPOSITORY = "https://github.com/pytorch/pytorch"
FOLDER = "test/cpp_extensions/open_registration_extension/torch_openreg"


def run(*command: str | Path, folder: Path | None = None) -> None:
    """Run a command, and stop if it fails."""
    subprocess.run(list(map(str, command)), cwd=folder, check=True)


def fetch(target: Path) -> Path:
    """The sources, and of torch's repository nothing else."""
    if not target.exists():
        tag = "v" + version("torch").partition("+")[0]
        options = ["--depth=1", "--filter=blob:none", "--sparse", f"--branch={tag}"]
        run("git", "clone", "--quiet", *options, REPOSITORY, target)
    run("git", "sparse-checkout", "set", FOLDER, folder=target)
    return target / FOLDER


def build(source: Path, work: Path) -> Path:
    """Compile it beside a copy of its Python files; the folder to import it from."""
    home, includes = work / "package", sysconfig.get_paths()["include"]
    package = home / "torch_openreg"
    shutil.copytree(source / "torch_openreg", package, dirs_exist_ok=True)
    torch = find_spec("torch")
    assert torch is not None
    assert torch.origin is not None
    run(
        *("cmake", "-S", source, "-B", work / "made", "-DUSE_TEST=OFF"),
        *(f"-DCMAKE_INSTALL_PREFIX={package}", f"-DPYTHON_INCLUDE_DIR={includes}"),
        f"-DPYTORCH_INSTALL_DIR={Path(torch.origin).parent}",
    )
    run("cmake", "--build", work / "made", "--target", "install", "--parallel")
    run(
        *("cc", "-shared", "-fPIC", f"-I{includes}", package / "csrc" / "stub.c"),
        *("-o", package / "_C.so", f"-L{package / 'lib'}", "-ltorch_bindings"),
        "-Wl,-rpath,$ORIGIN/lib",
    )
    return home


def main() -> None:
    parser = argparse.ArgumentParser(description="Build torch_openreg for this environment.")
    parser.add_argument("work", type=Path, help="folder for sources and what is built")
    parser.add_argument("--source", type=Path, help="folder torch_openreg of torch's tests")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    source = arguments.source.resolve() if arguments.source else fetch(work / "torch")
    # Where the programs of the environment are: cmake among them.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = build(source, work)
    (Path(sysconfig.get_path("purelib")) / "openreg.pth").write_text(f"{home}\n")
    print(home)


if __name__ == "__main__":
    main()
