/** UTF-8 by hand: an engine of guests need not have TextEncoder. */
import { Fault } from "./errors.js";

/** The bytes of a text. */
export function toBytes(text) {
  const escaped = encodeURIComponent(text).matchAll(/%([0-9A-F]{2})|[^%]/g);
  return Uint8Array.from(escaped, ([each, hex]) => (hex ? Number.parseInt(hex, 16) : each.charCodeAt(0)));
}

/** The text of bytes; what is no UTF-8 is a fault of the plugin. */
export function toText(bytes) {
  try {
    return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));
  } catch {
    throw new Fault("expected UTF-8");
  }
}
