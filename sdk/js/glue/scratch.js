/** The interface of the capability `scratch`. Only a component whose request asks for it has it, and only its entry imports this. */
import scratch from "loopwright:afv/scratch@0.1.0";
import { ScratchError } from "../errors.js";

export const scratchPort = {
  scratchGet(key) {
    const kept = scratch.get(key);
    return kept === null || kept === undefined ? null : Uint8Array.from(kept);
  },
  scratchPut(key, value) {
    try {
      scratch.put(key, value);
    } catch (error) {
      throw error?.payload?.tag ? new ScratchError(error.payload.tag, error.payload.val) : error;
    }
  },
  scratchDelete: (key) => scratch.delete(key),
  scratchKeys: () => scratch.keys(),
};
