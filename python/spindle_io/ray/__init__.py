# SPDX-License-Identifier: MIT
"""Sorting, joining and grouping on more than one machine, by Ray: the command spindle-ray(1).

Ray places tasks, moves and spills what they return, and runs again what is lost; here is the order.

    cli.py     the command line, messages, status
    plan.py    what is to be done: pieces of inputs, ranges of the result, memory
    tasks.py   what runs on the machines: sample, map, merge, reduce, join
    groups.py  groupings: partial totals of pieces, and the rows of a range
    job.py     the driver: stages one after the other, the proof, the report
    files.py   what is read, and the folder of the result, which appears as a whole
    seen.py    whether a file is the one that another process saw
"""
