"""What the plugin costs a run that does not use it: ``pytest`` on one trivial test.

``python benchmarks/startup.py [--quick]``. Two environments that hold the same packages, the
plugin's dependencies, and differ in the plugin; runs alternate between them. What counts is the CPU
time of the process: it is the time that passes where nothing else runs. The least of many runs is
taken, because what else a machine does can only add to it, and adds more than the plugin does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement
from reporting import Bar, conclude, print_table

import pytest_judgesense

# A share: what a millisecond is worth differs between machines, and from hour to hour on one. One
# per cent of it is pytest's, which reads the list of some 600 files of the installation.
BARS = {"added to a bare run": Bar("at most", 0.04), "heavy modules": Bar("at most", 0)}
HEAVY = ("numpy", "scipy", "pydantic", "vcr", "httpx", "filelock", "urllib3")
OURS = "pytest-judgesense"
ENTRY_POINT = "[pytest11]\njudgesense = pytest_judgesense.plugin\n"

RUN = """
import sys
sys.path[1:1] = {paths!r}
import pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", {test!r}])
{end}
sys.exit(code)
"""
TELL_HEAVY = f"print('heavy:', *[name for name in {HEAVY!r} if name in sys.modules])"


def dependencies(name: str) -> dict[str, Distribution]:
    """The packages that a package requires, directly or not, by name."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        for text in distribution(waiting.pop()).requires or ():
            requirement = Requirement(text)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and requirement.name not in found:
                try:
                    found[requirement.name] = distribution(requirement.name)
                except PackageNotFoundError:
                    continue
                waiting.append(requirement.name)
    return found


def link(package: Distribution, folder: Path) -> None:
    """Make a package importable from a folder."""
    tops = {file.parts[0] for file in package.files or () if file.parts[0] != ".."}
    for top in tops - {"__pycache__"}:
        link_to = folder / top
        if not link_to.exists():
            link_to.symlink_to(str(package.locate_file(top)))


def install_plugin(folder: Path) -> None:
    """The plugin as an installer leaves it: the package and what pytest finds it by."""
    package = Path(pytest_judgesense.__file__).parent
    (folder / package.name).symlink_to(package)
    info = folder / f"pytest_judgesense-{pytest_judgesense.__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {OURS}\nVersion: 0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINT)
    # pytest reads the list of the files of a plugin's package at every start.
    files = [path.relative_to(package.parent) for path in sorted(package.rglob("*.py"))]
    files += [info.relative_to(folder) / name for name in ("METADATA", "RECORD", "WHEEL")]
    (info / "RECORD").write_text("".join(f"{path.as_posix()},,\n" for path in files))


def cpu_seconds(paths: list[Path], test: Path) -> float:
    """CPU time of one run of pytest."""
    code = RUN.format(paths=[str(path) for path in paths], test=str(test), end="")
    # Isolated and without site-packages: nothing but what stands on `paths`.
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code], stdout=subprocess.PIPE, cwd=test.parent
    )
    assert process.stdout is not None
    shown = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0, shown.decode()
    return usage.ru_utime + usage.ru_stime


def heavy_modules(paths: list[Path], test: Path) -> list[str]:
    """The heavy modules that a run of pytest has imported at its end."""
    code = RUN.format(paths=[str(path) for path in paths], test=str(test), end=TELL_HEAVY)
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=test.parent)
    return next(line for line in done.stdout.splitlines() if line.startswith("heavy:")).split()[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    rounds = 20 if parser.parse_args().quick else 80
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        packages, plugin, none = (folder / part for part in ("packages", "plugin", "none"))
        for path in (packages, plugin, none):
            path.mkdir()
        for package in dependencies(OURS).values():
            link(package, packages)
        install_plugin(plugin)
        test = folder / "test_trivial.py"
        test.write_text("def test_it():\n    pass\n")
        places = {"without": [none, packages], "with": [plugin, packages]}
        spent: dict[str, list[float]] = {name: [] for name in places}
        heavy = set(heavy_modules(places["with"], test))
        heavy -= set(heavy_modules(places["without"], test))
        for _ in range(rounds):
            for name, paths in places.items():
                spent[name].append(cpu_seconds(paths, test))
    medians = {name: median(values) * 1e3 for name, values in spent.items()}
    print(f"CPU time of `pytest` on one test, {rounds} runs each, ms\n")
    print_table(
        ("environment", "median", "least"),
        [
            (f"{name} the plugin", f"{medians[name]:.1f}", f"{min(values) * 1e3:.1f}")
            for name, values in spent.items()
        ],
    )
    least = {name: min(values) for name, values in spent.items()}
    added = least["with"] / least["without"] - 1
    return conclude("startup", {"added to a bare run": added, "heavy modules": len(heavy)}, BARS)


if __name__ == "__main__":
    sys.exit(main())
