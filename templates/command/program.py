"""Stands for a program of yours: put its command into suites/program.yaml."""

import sys

size = int(sys.argv[1])
total = sum(i * i for i in range(size))
assert total == (size - 1) * size * (2 * size - 1) // 6
