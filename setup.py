"""The compiled kernel, which dehusk does not work without."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

FOLDER = Path("src") / "kernel"
UNIX_FLAGS = [
    "-std=c11",
    "-O3",
    "-Wall",
    "-Wextra",
    # One rounding for a product and one for a sum: the same bytes from every compiler.
    "-ffp-contract=off",
]
# Interpreters without a global lock have no limited interface: the kernel is built for each.
HAS_LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

kernel = Extension(
    "dehusk._kernel",
    sources=sorted(str(path) for path in FOLDER.glob("*.c")),
    depends=sorted(str(path) for path in FOLDER.glob("*.[dh]*")),
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
        if self.compiler.compiler_type != "msvc":
            for extension in self.extensions:
                extension.extra_compile_args += UNIX_FLAGS
        super().build_extensions()


setup(
    ext_modules=[kernel],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if HAS_LIMITED_API else {},
)
