"""The compiled kernel. Where it cannot be built, dehusk works without it."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = Path("src") / "kernel"
UNIX_FLAGS = [
    "-std=c11",
    "-O3",
    "-Wall",
    "-Wextra",
    # One rounding for a product and one for a sum, as in numpy: the twins give the same bytes.
    "-ffp-contract=off",
]

kernel = Extension(
    "dehusk._kernel",
    sources=sorted(str(path) for path in FOLDER.glob("*.c")),
    depends=sorted(str(path) for path in FOLDER.glob("*.[dh]*")),
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    optional=True,
)


class Build(build_ext):
    """Builds with the flags that the compiler understands."""

    def build_extensions(self) -> None:
        """Build the kernel."""
        if self.compiler.compiler_type != "msvc":
            for extension in self.extensions:
                extension.extra_compile_args += UNIX_FLAGS
        super().build_extensions()


# Interpreters without a global lock have no limited interface: they get the twins.
HAS_LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[kernel] if HAS_LIMITED_API else [],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if HAS_LIMITED_API else {},
)
