/** The exports of a tool plugin. */
import { toJson } from "../phone.js";
import { guarded, identity, localized } from "./common.js";
import { port } from "./port.js";

const pick = (texts, index) => Object.fromEntries(Object.entries(texts).map(([lang, text]) => [lang, text[index]]));

const accessRule = ({ argument, oneOf = [], effect, requires = [] }) => ({
  when: argument === undefined ? null : { argument, oneOf: oneOf.map(toJson) },
  effect,
  requires,
});

const toolSpec = ([name, declared]) => ({
  name,
  domain: declared.domain,
  description: localized(pick(declared.texts, 0)),
  keywords: localized(pick(declared.texts, 1)),
  argumentsSchema: toJson(declared.arguments),
  resultSchema: toJson(declared.result),
  access: declared.rules.map(accessRule),
  ext: [],
});

const collectionSpec = ({ name, schema, bookkeeping, indexes, initial }) => ({
  name,
  schema: schema === null ? null : toJson(schema),
  bookkeeping,
  indexes,
  initial: Object.entries(initial).map(([key, value]) => ({ key, value: toJson(value) })),
});

/** `capabilities` are the ports of those interfaces that the request asks for. */
export const exportTool = (plugin, ...capabilities) => ({
  describe: () => identity(plugin),
  specs: () => ({
    tools: [...plugin.tools].map(toolSpec),
    collections: plugin.collections.map(collectionSpec),
    uses: plugin.uses,
  }),
  call: (call) => guarded(() => plugin.call(Object.assign({}, port, ...capabilities), call.tool, call.arguments)),
});
