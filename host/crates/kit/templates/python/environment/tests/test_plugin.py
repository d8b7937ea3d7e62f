"""The plugin's code by itself, natively."""

import unittest

from loopwright import Reply
from loopwright.testing import TestWorld
from plugin import plugin

TOOLS = {"look": lambda arguments: Reply("seen", 1), "wipe": lambda arguments: Reply("gone")}
NEEDS = {"wipe": ("destructive", [])}


class EnvironmentTest(unittest.TestCase):
    def test_a_read_runs_and_what_cannot_be_undone_waits(self):
        world = TestWorld(plugin, TOOLS, needs=NEEDS)
        self.assertIsNone(world.reset().exposed)
        feedback, _ = world.step(("look", {}), ("wipe", {}), ("none", {}))
        self.assertEqual(feedback[0].answer, Reply("seen", 1))
        self.assertTrue(feedback[1].confirm)
        self.assertEqual(feedback[2].answer.code, 404)

    def test_a_confirmed_call_runs(self):
        world = TestWorld(plugin, TOOLS, needs=NEEDS)
        world.reset()
        world.confirmed_calls.append(("wipe", {}))
        feedback, _ = world.step(("wipe", {}))
        self.assertEqual(feedback[0].answer, Reply("gone"))


if __name__ == "__main__":
    unittest.main()
