# SPDX-License-Identifier: MIT
"""Builds the wheel of spindle-io: the package, the tools, the library and what these load.

As a backend of PEP 517 (pip wheel .), or, as the Makefile does:

    build.py stage TREE LIBRARY LINKED TOOL...
                                    makes the package in TREE/spindle_io, with the library in it,
                                    and the libraries that LINKED is linked with, which it loads;
                                    the tools in TREE/data/bin, with libraries of their own, since
                                    pip installs them in a prefix, and the package elsewhere
    build.py wheel TREE FOLDER      packs that tree, and prints the wheel's path
    build.py sdist FOLDER           packs the sources, and prints the path

Only the standard library is needed, strip(1), and no network.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent
NAME = "spindle_io"
RAY = "ray>=2.40,<3"
# Of the tools, below a prefix: their runpath.
LIBRARIES = "lib/spindle-io"
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


def put(files: list[Path], folder: Path, mode: int) -> None:
    folder.mkdir(parents=True)
    for path in files:
        shutil.copyfile(path, folder / path.name)
        (folder / path.name).chmod(mode)


def stage(tree: Path, library: Path, linked: Path, *tools: Path) -> None:
    package, data = tree / NAME, tree / "data"
    for folder in package, data:
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / NAME, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_version.py").write_text(f'__version__ = "{version()}"\n')
    put([library, *needed(linked)], package / "lib", 0o644)
    put(list(tools), data / "bin", 0o755)
    binaries = [*(package / "lib").iterdir(), *(data / "bin").iterdir()]
    subprocess.run([os.environ.get("STRIP", "strip"), "--strip-unneeded", *binaries], check=True)
    shutil.copytree(package / "lib", data / LIBRARIES)
    put(list(TOP.glob("tools/dbmbench/adapters/*")), data / "share/spindle/dbmbench", 0o755)
    pages = [TOP / f"man/{name}.1" for name in [*(t.name for t in tools), "spindle-ray"]]
    put(pages, data / "share/man/man1", 0o644)


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
    if not shutil.which("dpkg"):
        print("build.py: the wheel lacks licences of other libraries in it", file=sys.stderr)
        return found
    names = sorted(path.name for path in (tree / NAME / "lib").iterdir())
    # Each call reads the lists of all packages.
    owners = subprocess.run(
        ["dpkg", "-S", *(f"*/{name}*" for name in names)], capture_output=True, text=True
    ).stdout.splitlines()
    for name in names:
        package = next((o.split(":")[0] for o in owners if f"/{name}" in o), "")
        text = Path("/usr/share/doc") / package / "copyright"
        if package and text.is_file():
            found[f"licenses/{package}"] = text.read_text(errors="replace")
    return found


def below(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix != ".pyc"]


def zipped(z: zipfile.ZipFile, name: str, data: bytes, mode: int = 0o644) -> None:
    info = zipfile.ZipInfo(name)
    info.external_attr = (0o100000 | mode) << 16
    z.writestr(info, data, zipfile.ZIP_DEFLATED)


def wheel(tree: Path, folder: Path) -> Path:
    meta = metadata()
    tag = re.search("Tag: (.*)", meta["WHEEL"])[1]
    path = folder / f"{NAME}-{version()}-{tag}.whl"
    base = f"{NAME}-{version()}"
    paths = {p.relative_to(tree).as_posix(): p for p in below(tree / NAME)}
    for p in below(tree / "data"):
        name = p.relative_to(tree / "data").as_posix()
        scheme = f"scripts/{p.name}" if name.startswith("bin/") else f"data/{name}"
        paths[f"{base}.data/{scheme}"] = p
    files = {name: (p.read_bytes(), p.stat().st_mode & 0o755) for name, p in paths.items()}
    for name, text in {**meta, **licences(tree)}.items():
        files[f"{base}.dist-info/{name}"] = (text.encode(), 0o644)
    record = ""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, (data, mode) in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            zipped(z, name, data, mode)
        record += f"{base}.dist-info/RECORD,,\n"
        zipped(z, f"{base}.dist-info/RECORD", record.encode())
    return path


def sources() -> list[str]:
    """The files that git knows; in a tarball, all except those of a build."""
    git = ["git", "-C", TOP, "-c", f"safe.directory={TOP}", "ls-files", "-z"]
    if (TOP / ".git").exists():
        names = subprocess.run(git, check=True, capture_output=True, text=True).stdout.split("\0")
        return [name for name in names if (TOP / name).is_file()]
    names = [p.relative_to(TOP).as_posix() for p in below(TOP)]
    return [name for name in names if name != "PKG-INFO" and not name.startswith("build/")]


def sdist(folder: Path) -> Path:
    base = f"{NAME}-{version()}"
    path = folder / f"{base}.tar.gz"
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(path, "wb", mtime=0) as z, tarfile.open(fileobj=z, mode="w") as tar:
        for name in ["PKG-INFO", *sorted(sources())]:
            made = name == "PKG-INFO"
            data = metadata()["METADATA"].encode() if made else (TOP / name).read_bytes()
            info = tarfile.TarInfo(f"{base}/{name}")
            info.size = len(data)
            info.mode = 0o644 if made else (TOP / name).stat().st_mode & 0o755
            tar.addfile(info, io.BytesIO(data))
    return path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    jobs = f"-j{os.cpu_count()}"
    subprocess.run(["make", "-C", TOP, jobs, f"PYTHON={sys.executable}", "python"], check=True)
    return wheel(TOP / "build/python", Path(wheel_directory)).name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    return sdist(Path(sdist_directory)).name


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    done = {"stage": stage, "wheel": wheel, "sdist": sdist}[command](*map(Path, paths))
    if done:
        print(done)
