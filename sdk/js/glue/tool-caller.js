/** The interface of the capability `tool.call`. Only a component whose request asks for it has it, and only its entry imports this. */
import toolCaller from "loopwright:afv/tool-caller@0.1.0";
import { CallError, Failure } from "../errors.js";

function callError({ tag, val }) {
  if (tag !== "failed") return new CallError(tag, val);
  const refused = new Failure(val.code, val.message, val.data ? JSON.parse(val.data) : null);
  return new CallError(tag, val.message, refused);
}

export const toolCallerPort = {
  callTool(name, args) {
    try {
      return toolCaller.call(name, args);
    } catch (error) {
      throw error?.payload?.tag ? callError(error.payload) : error;
    }
  },
};
