"""The plugin's code by itself, natively."""

import unittest

from loopwright import ToolCall
from loopwright.testing import TestPhone
from plugin import plugin


class SkillTest(unittest.TestCase):
    def test_turning_wifi_off_is_warned_of_and_asking_is_not(self):
        for action, expected in (("disable", "warn"), ("query", "allow")):
            call = ToolCall("c1", "manage_wifi", {"action": action})
            self.assertEqual(plugin.run_check(TestPhone().port, call).kind, expected)

    def test_rules_about_absent_tools_disappear(self):
        self.assertEqual(plugin.guidance([], "en"), "")
        self.assertIn("Wi-Fi", plugin.guidance(["manage_wifi"], "zh"))


if __name__ == "__main__":
    unittest.main()
