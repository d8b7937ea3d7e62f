"""Reading state and writing the log: all that a skill has."""

from wit_world.imports import state_read

from . import common, state


class ReadingPort:
    def get(self, collection, key):
        return state.asked(state_read.get, collection, key)

    def get_many(self, keys):
        return state.asked(state_read.get_many, list(keys))

    def find(self, collection, *query):
        return state.page(state.asked(state_read.find, collection, state.query(*query)))

    def log(self, level, message):
        common.write_log(level, message)
