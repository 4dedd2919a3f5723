"""The compiled kernel, which dehusk does not work without, and the README as PyPI shows it."""

from __future__ import annotations

import re
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

# pip would complain of packages that an older Python cannot have.
if sys.version_info < (3, 11):  # noqa: UP036  older ones get as far as here
    sys.exit(f"dehusk needs Python 3.11 or later, and this is {sys.version.split()[0]}")

FOLDER = Path("src") / "kernel"
UNIX_FLAGS = [
    "-std=c11",
    "-O3",
    "-g0",  # Python's own flags have -g, which makes the kernel four times as large.
    # Nobody links to the kernel: it shows the one name that Python looks for.
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    # One rounding for a product and one for a sum: the same bytes from every compiler.
    "-ffp-contract=off",
]
STRIP_FLAG = "-Wl,-x" if sys.platform == "darwin" else "-s"
MSVC_FLAGS = ["/std:c11", "/O2"]
# Interpreters without a global lock have no limited interface: the kernel is built for each.
HAS_LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

kernel = Extension(
    "dehusk._kernel",
    sources=sorted(str(path) for path in FOLDER.glob("*.c")),
    depends=["setup.py", *sorted(str(path) for path in FOLDER.glob("*.[dh]*"))],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if HAS_LIMITED_API else [],
    py_limited_api=HAS_LIMITED_API,
)


class Build(build_ext):
    """Builds with the flags that the compiler understands, and says what is missing."""

    def build_extensions(self) -> None:
        """Build the kernel."""
        if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
            raise PlatformError(
                "dehusk's kernel needs the headers of Python to be built: install them"
                " (python3-dev or python3-devel), or a wheel of dehusk for this platform"
            )
        if self.compiler.compiler_type == "unix":
            command = self.compiler.compiler_so[0]
            if shutil.which(command) is None:
                raise PlatformError(
                    f"dehusk's kernel needs a C compiler to be built, and {command} is not there:"
                    " install one, or a wheel of dehusk for this platform"
                )
        for extension in self.extensions:
            if self.compiler.compiler_type == "msvc":
                extension.extra_compile_args += MSVC_FLAGS
            else:
                extension.extra_compile_args += UNIX_FLAGS
                extension.extra_link_args.append(STRIP_FLAG)
        super().build_extensions()


def pypi_readme() -> str:
    """README.md with whole addresses in its links: PyPI has none of the files beside it."""
    import tomllib  # noqa: PLC0415  not for Pythons that are too old

    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    home, version = project["urls"]["Source"], project["version"]

    def whole(link: re.Match[str]) -> str:
        before, target = link.groups()
        if target.startswith("#"):
            return f"{before}{home}{target}"
        kind = "raw" if re.search(r"\.(?:png|svg|jpe?g|gif|webp)$", target) else "blob"
        return f"{before}{home}/{kind}/v{version}/{target}"

    relative = r"""(\]\(|(?:href|src|srcset)=")(?![a-z]+:)([^)"\s]+)"""
    return re.sub(relative, whole, Path("README.md").read_text("utf-8"))


setup(
    long_description=pypi_readme(),
    long_description_content_type="text/markdown",
    ext_modules=[kernel],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if HAS_LIMITED_API else {},
)
