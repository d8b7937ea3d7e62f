"""The guest SDK for Python: tool, environment, verifier and skill plugins, without hand-written WIT records.

An author's module makes one plugin object and decorates plain functions with it. Nothing here imports the generated bindings, so that a
plugin is ordinary Python outside of a component: `loopwright.testing` stands in for the host there. `loopwright.glue` alone knows the
bindings, and only `loopwright plugin build` imports it.
"""

from .errors import CallError, Failure, Fault, JudgeError, ScratchError, StateError
from .environment import Environment, EnvironmentPlugin, Feedback, Observation, Turn
from .phone import Doc, Page, Phone, PhoneView, Reply, Scratch
from .plugin import Collection, ToolCall, ToolPlugin
from .skill import Advice, SkillPlugin
from .verifier import Change, Criterion, Evidence, Snapshot, Step, Verdict, VerifierPlugin
from . import schema

__all__ = [
    "Advice", "CallError", "Change", "Collection", "Criterion", "Doc", "Environment", "EnvironmentPlugin", "Evidence", "Failure", "Fault",
    "Feedback", "JudgeError", "Observation", "Page", "Phone", "PhoneView", "Reply", "Scratch", "ScratchError", "SkillPlugin", "Snapshot",
    "StateError", "Step", "ToolCall", "ToolPlugin", "Turn", "Verdict", "VerifierPlugin", "schema",
]
