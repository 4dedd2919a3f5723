"""The command `dehusk`. It stands beside the package, to say why that cannot be loaded."""

import sys


def main() -> int:
    """Run the command line, or say in a sentence why it cannot be."""
    try:
        from dehusk.__main__ import main as run  # noqa: PLC0415
    except ImportError as fault:
        sys.exit(f"dehusk: {fault}")
    return run()
