/** The one profile of JSON Schema: inlined, closed objects. Every function returns a plain object. */

const described = (schema, description, more) => ({ ...schema, ...(description ? { description } : {}), ...more });

/** A closed object. All properties are required unless `required` names those that are. */
export const object = (properties = {}, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
/** A string; `enum`, `minLength` and their kin in `more`. */
export const string = (description, more = {}) => described({ type: "string" }, description, more);
/** An integer; `minimum` and `maximum` in `more`. */
export const integer = (description, more = {}) => described({ type: "integer" }, description, more);
/** A number. */
export const number = (description, more = {}) => described({ type: "number" }, description, more);
/** True or false. */
export const boolean = (description, more = {}) => described({ type: "boolean" }, description, more);
/** A list of such items. */
export const array = (items, description, more = {}) => described({ type: "array", items }, description, more);
/** That, or null. */
export const nullable = (schema) => ({ anyOf: [schema, { type: "null" }] });
/** Any JSON value. */
export const any = (description, more = {}) => described({}, description, more);
