# SPDX-License-Identifier: MIT
"""Builds the wheel of spindle-io: the package, the shared library and what that needs.

As a backend of PEP 517 (pip wheel python/), or, as the Makefile does:

    build.py stage TREE LIBRARY LINKED
                                    makes the package in TREE/spindle_io, with the library in it,
                                    and the libraries that LINKED is linked with, which it loads
    build.py wheel TREE FOLDER      packs that tree, and prints the wheel's path

Only the standard library is needed, and no network.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent
NAME = "spindle_io"
RAY = "ray>=2.40,<3"
# Every Linux has these.
SYSTEM = re.compile(r"^(lib(c|m|pthread|dl|rt)\.so|ld-linux|linux-vdso)")


def version() -> str:
    header = (TOP / "lib/include/spindle/version.h").read_text()
    return re.search(r'#define SP_VERSION "(.*)"', header)[1]


def needed(library: Path) -> list[Path]:
    """The shared libraries that a library needs, those of the system apart."""
    lines = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\s*(\S+) => (/\S+)", lines, re.M)
    return [Path(path) for name, path in found if not SYSTEM.match(name)]


def stage(tree: Path, library: Path, linked: Path) -> None:
    package = tree / NAME
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(HERE / NAME, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_version.py").write_text(f'__version__ = "{version()}"\n')
    (package / "lib").mkdir()
    shutil.copy(library, package / "lib" / "libspindle.so.0")
    for path in needed(linked):
        shutil.copy(path, package / "lib" / path.name)


def metadata() -> dict[str, str]:
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    lines = [
        "Metadata-Version: 2.1",
        "Name: spindle-io",
        f"Version: {version()}",
        "Summary: External sorting and joining of records, in Python and on Ray",
        "License: MIT",
        "Requires-Python: >=3.9",
        f"Requires-Dist: {RAY}; extra == 'ray'",
        "Provides-Extra: ray",
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "README.md").read_text(),
    ]
    return {
        "METADATA": "\n".join(lines),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: spindle\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nspindle-ray = spindle_io.ray.cli:main\n",
        "LICENSE": (TOP / "LICENSE").read_text(),
    }


def licences(tree: Path) -> dict[str, str]:
    """What the distribution says about the libraries that are packed too."""
    found = {}
    for path in sorted((tree / NAME / "lib").iterdir()):
        package = subprocess.run(
            ["dpkg", "-S", f"*/{path.name}*"], capture_output=True, text=True
        ).stdout.split(":")[0]
        text = Path("/usr/share/doc") / package / "copyright"
        if package and text.is_file():
            found[f"licenses/{package}"] = text.read_text(errors="replace")
    return found


def wheel(tree: Path, folder: Path) -> Path:
    meta = metadata()
    tag = re.search("Tag: (.*)", meta["WHEEL"])[1]
    path = folder / f"{NAME}-{version()}-{tag}.whl"
    info = f"{NAME}-{version()}.dist-info"
    files = {
        p.relative_to(tree).as_posix(): p.read_bytes()
        for p in sorted((tree / NAME).rglob("*"))
        if p.is_file() and p.suffix != ".pyc"
    }
    files |= {f"{info}/{n}": t.encode() for n, t in {**meta, **licences(tree)}.items()}
    manual = f"{NAME}-{version()}.data/data/share/man/man1/spindle-ray.1"
    files[manual] = (TOP / "man/spindle-ray.1").read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    subprocess.run(["make", "-C", TOP, "python"], check=True)
    return wheel(TOP / "build/python", Path(wheel_directory)).name


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    if command == "stage":
        stage(*map(Path, paths))
    else:
        print(wheel(*map(Path, paths)))
