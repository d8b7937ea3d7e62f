"""The SDK by itself: declarations, errors and the fakes of tests."""

import unittest

from loopwright import Collection, Failure, Fault, Reply, StateError, ToolPlugin, Verdict, schema
from loopwright.phone import Phone, to_json
from loopwright.testing import FakePort, TestPhone
from loopwright.verifier import Criterion

DOCUMENTS = {f"k{level}": {"level": level, "name": f"lamp {level}", "tags": ["a", level]} for level in (3, 1, 2)}


def phone() -> Phone:
    return Phone(FakePort({"lamp": dict(DOCUMENTS)}))


class FindTest(unittest.TestCase):
    def keys(self, *where, **options):
        return [doc.key for doc in phone().find("lamp", *where, **options).docs]

    def test_every_test_of_a_field(self):
        for clause, expected in (
            (("/level", "eq", 1.0), ["k1"]), (("/level", "ne", 1), ["k2", "k3"]), (("/level", "lt", 2), ["k1"]),
            (("/level", "ge", 2), ["k2", "k3"]), (("/level", "gt", "2"), []), (("/level", "one-of", [1, 3]), ["k1", "k3"]),
            (("/name", "starts-with", "lamp 2"), ["k2"]), (("/name", "contains", "p 3"), ["k3"]), (("/tags", "contains", 2), ["k2"]),
            (("/none", "exists", False), ["k1", "k2", "k3"]), (("/none", "ne", 1), ["k1", "k2", "k3"]), (("/none", "eq", 1), []),
        ):
            self.assertEqual(self.keys(clause), expected, clause)

    def test_order_pages_and_fields(self):
        self.assertEqual(self.keys(order_by=[("/level", "desc")]), ["k3", "k2", "k1"])
        page = phone().find("lamp", fields=["/level"], limit=2)
        self.assertEqual((page.docs[0].value, page.total), ({"level": 1}, 3))
        self.assertEqual(len(phone().find_all("lamp", limit=2)), 3)


class StateTest(unittest.TestCase):
    def test_a_patch_merges_and_needs_a_document(self):
        lamp = phone()
        lamp.patch("lamp", "k1", {"name": None, "level": 9})
        self.assertEqual(lamp.get("lamp", "k1"), {"level": 9, "tags": ["a", 1]})
        with self.assertRaises(StateError) as missing:
            lamp.patch("lamp", "none", {})
        self.assertEqual(missing.exception.failure().code, 404)

    def test_what_json_cannot_hold_is_a_fault(self):
        for value in (float("nan"), float("inf"), {1, 2}, object()):
            with self.assertRaises(Fault):
                to_json(value)


class ToolTest(unittest.TestCase):
    def plugin(self, handler):
        plugin = ToolPlugin("lamp", "0.1.0")
        plugin.owns(Collection("lamp", initial={"main": 1}))
        declare = plugin.tool("use", domain="d", en=("Uses.", "use"), arguments=schema.object(), result=schema.any(), effect="write")
        declare(handler)
        return TestPhone(plugin)

    def test_a_refusal_and_a_fault_leave_nothing_behind(self):
        def refuses(lamp, arguments):
            lamp.put("lamp", "main", 2)
            raise Failure.conflict("no", allowed=[1])

        test = self.plugin(refuses)
        with self.assertRaises(Failure) as refused:
            test.call("use")
        self.assertEqual((refused.exception.code, refused.exception.data), (409, {"allowed": [1]}))
        self.assertEqual(test.document("lamp", "main"), 1)
        with self.assertRaises(Fault):
            self.plugin(lambda lamp, arguments: "no reply").call("use")

    def test_another_plugins_collection_is_denied(self):
        test = self.plugin(lambda lamp, arguments: Reply("done", lamp.get("other", "x")))
        with self.assertRaises(Failure) as denied:
            test.call("use")
        self.assertEqual(denied.exception.code, 403)

    def test_declarations_that_contradict_themselves_are_refused(self):
        plugin = ToolPlugin("lamp", "0.1.0")
        common = dict(domain="d", en=("a", "b"), arguments={}, result={})
        for wrong in ({}, {"effect": "read", "rules": []}, {"effect": "look"}):
            with self.assertRaises(ValueError):
                plugin.tool("use", **common, **wrong)


class VerdictTest(unittest.TestCase):
    def test_outcome_score_and_progress_agree(self):
        held = Criterion("a", True, "", held_at_reset=True)
        done, open_ = Criterion("b", True, ""), Criterion("c", False, "", weight=0.0)
        self.assertEqual(Verdict.of([held, done]).score, 1.0)
        below = Verdict.of([held, done, open_])
        self.assertFalse(below.passed)
        self.assertLess(below.score, 1.0)
        self.assertEqual((Verdict.of([]).passed, Verdict.of([]).progress), (False, 0.0))


if __name__ == "__main__":
    unittest.main()
