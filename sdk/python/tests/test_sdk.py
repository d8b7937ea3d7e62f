"""The SDK by itself: declarations, errors and the fakes of tests."""

import unittest

from loopwright import CallError, Collection, Failure, Fault, Reply, ScratchError, StateError, ToolPlugin, Verdict, schema
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


class CapabilitiesTest(unittest.TestCase):
    def phone(self, handler, **granted):
        plugin = ToolPlugin("diary", "0.1.0")
        plugin.owns(Collection("diary"))
        declare = plugin.tool("use", domain="d", en=("Uses.", "use"), arguments=schema.object(), result=schema.any(), effect="write")
        declare(handler)
        return TestPhone(plugin, **granted)

    def test_bytes_are_kept_as_they_are_within_the_quota(self):
        every = bytes(range(256))
        test = TestPhone(scratch_bytes=64 + 5 + 256)
        scratch = test.phone().scratch
        for _ in range(2):
            # What is replaced counts no more.
            scratch.put("bytes", every)
        self.assertEqual((scratch.get("bytes"), scratch.get("none"), test.kept("bytes")), (every, None, every))
        with self.assertRaises(ScratchError) as full:
            scratch.put("bytes", every + b"0")
        self.assertEqual(full.exception.detail, "at most 325 bytes allowed, found 326")
        self.assertEqual(full.exception.failure().code, 429)
        for key in ("", "é" * 129):
            with self.assertRaises(ScratchError) as malformed:
                scratch.put(key, b"")
            self.assertEqual((malformed.exception.kind, malformed.exception.failure()), ("invalid", None))
        self.assertEqual(scratch.keys(), ["bytes"])
        self.assertEqual((scratch.delete("bytes"), scratch.delete("bytes"), scratch.keys()), (True, False, []))
        scratch.put_json("n", {"n": "é"})
        self.assertEqual((scratch.get("n"), scratch.get_json("n"), scratch.get_json("m")), ('{"n":"é"}'.encode(), {"n": "é"}, None))
        scratch.put("n", b"\xff")
        for wrong in (lambda: scratch.get_json("n"), lambda: scratch.put("n", "text"), lambda: scratch.put_json("n", float("nan"))):
            self.assertRaises(Fault, wrong)
        self.assertRaises(ScratchError, lambda: TestPhone().phone().scratch.put("k", b""))

    def test_what_a_call_came_to_is_told_apart(self):
        refused = Failure.conflict("taken", allowed=[1])
        told = [Reply("done", {"id": 1}), refused, CallError("denied", "busy"), CallError("faulted", "fuel")]
        test = TestPhone(answers={"add_event": told})
        phone = test.phone()
        self.assertEqual(phone.call_tool("add_event", {"title": "tea"}), Reply("done", {"id": 1}))
        for kind, code in (("failed", 409), ("denied", 403), ("faulted", 503)):
            with self.assertRaises(CallError) as error:
                phone.call_tool("add_event", {})
            self.assertEqual((error.exception.kind, error.exception.failure().code), (kind, code))
        with self.assertRaises(CallError) as denied:
            phone.call_tool("other", {})
        self.assertEqual(denied.exception.detail, "tool `other` is not granted")
        self.assertRaises(AssertionError, lambda: phone.call_tool("add_event", {}))
        self.assertRaises(Fault, lambda: phone.call_tool("add_event", [1]))
        self.assertEqual(test.called()[0], ("add_event", {"title": "tea"}))

    def test_a_refusal_that_passes_is_the_handlers_and_leaves_nothing_behind(self):
        def uses(phone, arguments):
            phone.scratch.put("last", b"use")
            phone.put("diary", "last", 1)
            return phone.call_tool("add_event", {})

        test = self.phone(uses, scratch_bytes=100, answers={"add_event": [Failure.conflict("taken", allowed=[1]), Reply("done", 2)]})
        with self.assertRaises(Failure) as refused:
            test.call("use")
        self.assertEqual((refused.exception.code, refused.exception.data), (409, {"allowed": [1]}))
        self.assertEqual((test.kept("last"), test.document("diary", "last")), (None, None))
        self.assertEqual(test.call("use"), Reply("done", 2))
        self.assertEqual((test.kept("last"), test.document("diary", "last")), (b"use", 1))

    def test_what_the_request_does_not_ask_for_is_not_there(self):
        phone = Phone(FakePort({}))
        for wrong in (lambda: phone.call_tool("add_event", {}), lambda: phone.scratch):
            with self.assertRaises(Fault) as fault:
                wrong()
            self.assertIn("request.json", str(fault.exception))


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
