# SPDX-License-Identifier: MIT
"""Prints a line of TAP for each test: unittest.main(testRunner=tap.Runner).

The numbers and the plan are those of tap_lines() in scripts/tap.bash; reasons of failures go to
standard error.
"""

import unittest


class Result(unittest.TextTestResult):
    def line(self, status, test, end=""):
        name = getattr(test, "_testMethodName", test)
        print(f"{status} - {name}{end}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("ok", test, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.line("not ok", test)


class Runner(unittest.TextTestRunner):
    resultclass = Result
