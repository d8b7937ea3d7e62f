"""The plugin's code by itself, natively."""

import unittest

from loopwright import Failure
from loopwright.testing import TestPhone
from plugin import plugin


class ToolTest(unittest.TestCase):
    def test_what_is_set_is_what_is_got(self):
        phone = TestPhone(plugin)
        phone.call("set_plugin_name", level=40)
        self.assertEqual(phone.call("get_plugin_name").data, {"level": 40})

    def test_the_same_level_again_is_refused(self):
        phone = TestPhone(plugin)
        with self.assertRaises(Failure) as refused:
            phone.call("set_plugin_name", level=0)
        self.assertEqual(refused.exception.code, 409)
        self.assertEqual(phone.document("plugin-name", "main"), {"level": 0})


if __name__ == "__main__":
    unittest.main()
