"""The interface of the capability `scratch`. Only a component whose request asks for it has it, and only its entry imports this."""

from componentize_py_types import Err
from wit_world.imports import scratch

from ..errors import ScratchError


class ScratchPort:
    def scratch_get(self, key):
        kept = scratch.get(key)
        return None if kept is None else bytes(kept)

    def scratch_put(self, key, value):
        try:
            scratch.put(key, value)
        except Err as error:
            kind = "quota" if isinstance(error.value, scratch.ScratchError_Quota) else "invalid"
            raise ScratchError(kind, error.value.value) from None

    def scratch_delete(self, key):
        return scratch.delete(key)

    def scratch_keys(self):
        return scratch.keys()
