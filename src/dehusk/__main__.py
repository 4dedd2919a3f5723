"""`python -m dehusk` is the command `dehusk`."""

import gc
import os
import sys


def main() -> int:
    """Run the command line, which is loaded here so that Ctrl-C is answered from the start."""
    if sys.argv[1:2] not in (["bench"], ["train"]):
        # Threads of numpy's linear algebra, which no command uses, take as long to begin as a page.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # Until all is loaded, which makes no garbage: a tenth of the time.
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
