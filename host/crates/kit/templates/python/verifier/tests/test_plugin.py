"""The plugin's code by itself, natively."""

import json
import unittest

from loopwright import JudgeError
from loopwright.testing import TestEvidence
from plugin import plugin

CHECK = {"collection": "lamp", "key": "main", "at": "/level", "equals": 40}


class VerifierTest(unittest.TestCase):
    def test_the_state_after_the_last_step_decides(self):
        states = [{"lamp": {"main": {"level": level}}} for level in (0, 40)]
        evidence = TestEvidence(states, [TestEvidence.call(0, "set_lamp", {"level": 40})])
        before, after = plugin.run(evidence, json.dumps(CHECK), [0, 1])
        self.assertEqual((before.passed, before.score), (False, 0.0))
        self.assertEqual((after.passed, after.score, after.progress), (True, 1.0, 1.0))

    def test_a_check_that_it_does_not_know_is_no_verdict(self):
        with self.assertRaises(JudgeError):
            plugin.run(TestEvidence([{}]), "{}", [0])


if __name__ == "__main__":
    unittest.main()
