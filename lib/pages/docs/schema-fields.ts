import type { JsonSchema } from "#lib/openapi/openapi-schemas.ts";

export type SchemaField = {
  readonly name: string;
  /** The type in words: `string`, `date and time`, `list of object`, `string or null`. */
  readonly type: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly values: readonly string[];
  readonly notes: readonly string[];
  readonly fields: readonly SchemaField[];
};

type Schemas = Readonly<Record<string, JsonSchema>>;

const REFERENCE = "#/components/schemas/";
const DEPTH_MAX = 8;

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null && !Array.isArray(value);
const schemasIn = (value: unknown): JsonSchema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

/** Properties next to the `$ref` override those of the target. */
function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const { $ref: reference, ...beside } = schema;
  if (typeof reference !== "string") return schema;
  return resolve({ ...schemas[reference.slice(REFERENCE.length)], ...beside }, schemas);
}

const choicesOf = ({ anyOf, oneOf }: JsonSchema): JsonSchema[] => [...schemasIn(anyOf), ...schemasIn(oneOf)];

const valuesOf = ({ enum: values, const: value }: JsonSchema): string[] =>
  (Array.isArray(values) ? values : value === undefined ? [] : [value]).map(String);

const formats: Readonly<Record<string, string>> = { "date-time": "date and time", uri: "address", email: "e-mail address" };

function typeOf(schema: JsonSchema, schemas: Schemas): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) return [...new Set(choices.map((one) => typeOf(resolve(one, schemas), schemas)))].join(" or ");
  const { type, format, items } = schema;
  if (type === "array") return isSchema(items) ? `list of ${typeOf(resolve(items, schemas), schemas)}` : "list";
  if (typeof format === "string" && formats[format] !== undefined) return formats[format];
  if (Array.isArray(type)) return type.join(" or ");
  return typeof type === "string" ? type : valuesOf(schema).length > 0 ? "string" : "any value";
}

const note = (text: string, value: unknown): string[] =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [`${text} ${String(value)}`] : [];

const notesOf = (schema: JsonSchema): string[] => [
  ...note("default", schema["default"]),
  ...note("at least", schema["minimum"]),
  ...note("at most", schema["maximum"]),
  ...note("entries at most", schema["maxItems"]),
  ...note("characters at most", schema["pattern"] === undefined ? schema["maxLength"] : undefined),
  ...note("pattern", schema["pattern"]),
];

/** The object schemas that define the fields: the schema itself, the items of a list, or each alternative. */
function holders(schema: JsonSchema, schemas: Schemas): JsonSchema[] {
  const choices = choicesOf(schema).map((one) => resolve(one, schemas));
  if (choices.length > 0) return choices.flatMap((one) => holders(one, schemas));
  if (isSchema(schema["items"])) return holders(resolve(schema["items"], schemas), schemas);
  return isSchema(schema["properties"]) ? [schema] : [];
}

function fieldOf(name: string, given: JsonSchema, required: boolean, schemas: Schemas, depth: number): SchemaField {
  const schema = resolve(given, schemas);
  const inner = isSchema(schema["items"]) ? resolve(schema["items"], schemas) : schema;
  const choices = choicesOf(inner).map((one) => resolve(one, schemas));
  const { description } = schema;
  return {
    name,
    type: typeOf(schema, schemas),
    required,
    description: typeof description === "string" ? description : undefined,
    values: [...valuesOf(inner), ...choices.flatMap(valuesOf)],
    notes: notesOf(inner),
    fields: depth === DEPTH_MAX ? [] : fieldsOf(schema, schemas, depth + 1),
  };
}

/** If the schema has alternatives with fields, a field is required only if all of these require it. */
export function fieldsOf(given: JsonSchema, schemas: Schemas, depth = 0): SchemaField[] {
  const shapes = holders(resolve(given, schemas), schemas);
  const fields = new Map<string, SchemaField>();
  for (const shape of shapes) {
    const required = Array.isArray(shape["required"]) ? shape["required"] : [];
    for (const [name, schema] of Object.entries(shape["properties"] as Schemas)) {
      const known = fields.get(name);
      const field = fieldOf(name, schema, required.includes(name), schemas, depth);
      fields.set(name, known ? merge(known, field) : field);
    }
  }
  const everywhere = (name: string) =>
    shapes.every(({ required }) => Array.isArray(required) && (required as unknown[]).includes(name));
  return [...fields.values()].map((field) => ({ ...field, required: everywhere(field.name) }));
}

const merge = (a: SchemaField, b: SchemaField): SchemaField => ({
  ...a,
  type: a.type === b.type ? a.type : `${a.type} or ${b.type}`,
  values: [...new Set([...a.values, ...b.values])],
  notes: [...new Set([...a.notes, ...b.notes])],
  fields: a.fields.length >= b.fields.length ? a.fields : b.fields,
});
