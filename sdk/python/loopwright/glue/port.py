"""The imports of a tool's world."""

from wit_world.imports import context, state_write

from . import common, state
from .reading import ReadingPort


class Port(ReadingPort):
    def put(self, collection, key, text):
        state.asked(state_write.put, collection, key, text)

    def patch(self, collection, key, text):
        state.asked(state_write.patch, collection, key, text)

    def delete(self, collection, key):
        return state.asked(state_write.delete, collection, key)

    def now_ns(self):
        return common.nanoseconds(context.now())

    def zone(self):
        return context.zone()

    def offset_s(self, at_ns):
        return context.offset_s(common.instant(at_ns))

    def random(self):
        high, low = context.random_bits()
        return high << 32 | low

    def next_id(self, prefix):
        return context.next_id(prefix)
