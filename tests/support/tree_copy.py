# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checkout's files in another folder, and an environment whose Python finds the libraries but not the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def copy_tree(into: Path) -> None:
    """Copy the files that git does not ignore, as they are now, into a folder. Links stay links."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    for path in filter(None, listed.split("\0")):
        source, target = CHECKOUT / path, into / path
        if source.exists() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def environment_without_checkout(folder: Path) -> Path:
    """Make a virtual environment with this one's libraries and Ansible's programs, but without the checkout's `.pth`.

    A `.pth` file in it names our site-packages: that folder's own `.pth` files are not read for it.

    Returns:
        The folder with its programs.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    programs = folder / "bin"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (folder / "lib" / version / "site-packages" / "libraries.pth").write_text("\n".join(sorted(libraries)) + "\n")
    for script in Path(sys.executable).parent.glob("ansible*"):
        _, _, rest = script.read_text(encoding="utf-8").partition("\n")
        (programs / script.name).write_text(f"#!{programs / 'python'}\n{rest}", encoding="utf-8")
        (programs / script.name).chmod(0o755)
    return programs


def build_collection(tree: Path, into: Path) -> Path:
    """Build the collection out of a copy of the tree. Returns its tarball."""
    galaxy = Path(sys.executable).with_name("ansible-galaxy")
    subprocess.run(
        [sys.executable, galaxy, "collection", "build", tree, "--output-path", into],
        check=True,
        capture_output=True,
        env={**os.environ, "ANSIBLE_HOME": str(into / "ansible")},
    )
    (tarball,) = into.glob("*.tar.gz")
    return tarball
