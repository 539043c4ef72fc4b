# SPDX-License-Identifier: Apache-2.0
"""What perfgate starts with the user's interpreter: INTERPRETER worker.py LIBRARY ARGUMENT..."""

import os
import sys

# This folder is first on the path, so that the package beside this file is the one in use.
from perfgate import _worker

if __name__ == "__main__":
    code = _worker.main(sys.argv[1], sys.argv[2:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads that libraries left must not hold the process
