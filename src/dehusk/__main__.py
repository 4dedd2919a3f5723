"""`python -m dehusk` is the command `dehusk`."""

import sys


def main() -> int:
    """Run the command line, which is loaded here so that Ctrl-C is answered from the start."""
    try:
        from dehusk.doors.cli import main as run  # noqa: PLC0415

        status = run()
    except KeyboardInterrupt:
        status = 130
    # An interrupt inside `exec`, which dataclasses use, leaves a mark by which Python ends itself
    # with a signal and not with our status. The next `exec` takes it away.
    exec("")  # noqa: S102
    return status


if __name__ == "__main__":
    sys.exit(main())
