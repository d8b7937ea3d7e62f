/** Sends back every value type of the contract, as componentize-qjs has it. */
import { toJson } from "./loopwright/phone.js";

const NAMES = `Instant Localized Actor Effects Rule ToolSpec CollectionSpec ToolCall Success Failure StateError Query Page Identity Needs
  ToolOutcome Change Step Doubles Numbers Bytes Halves Strings`.split(/\s+/);

export const values = {
  ...Object.fromEntries(NAMES.map((name) => [`echo${name}`, (value) => value])),
  echoRead({ tag, val }) {
    if (tag === "err") throw val;
    return val;
  },
  throughJson: (value) => toJson(JSON.parse(value)),
};
