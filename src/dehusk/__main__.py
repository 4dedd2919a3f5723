"""`python -m dehusk` is the command `dehusk`."""

import sys

from dehusk.cli import main

sys.exit(main())
