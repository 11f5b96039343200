import { z } from "zod";

export type JsonSchema = { [key: string]: unknown };
type Definitions = Map<string, JsonSchema>;
type Direction = "input" | "output";

/** Removes constraints that zod adds and the API documentation does not need. */
function tidy(schema: z.core.$ZodTypes, json: JsonSchema, io: Direction): void {
  if (json["format"] === "date-time") delete json["pattern"];
  if (json["maximum"] === Number.MAX_SAFE_INTEGER) delete json["maximum"];
  if (json["minimum"] === Number.MIN_SAFE_INTEGER) delete json["minimum"];
  // Replies may get new fields within version 1 of the API, so their schemas must allow unknown fields.
  if (io === "output" && schema._zod.def.type === "object" && !schema._zod.def.catchall) delete json["additionalProperties"];
}

const REFERENCE = "#/$defs/";

function rewrite(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) =>
      name === "$ref" && typeof item === "string" && item.startsWith(REFERENCE)
        ? [name, `#/components/schemas/${rename(item.slice(REFERENCE.length))}`]
        : [name, rewrite(item, rename)],
    ),
  );
}

const referencesOf = (json: unknown): string[] =>
  [...JSON.stringify(json).matchAll(/"#\/\$defs\/([^"]+)"/g)].map((match) => match[1] ?? "");

/** A schema that has different forms for requests and replies gets two names. */
export function createSchemas() {
  const definitions: Record<Direction, Definitions> = { input: new Map(), output: new Map() };
  const pending: { readonly target: JsonSchema; readonly json: JsonSchema; readonly io: Direction }[] = [];

  /** Returns an empty object, which finish() fills with the schema. */
  const use = (schema: z.ZodType, io: Direction): JsonSchema => {
    const {
      $schema: _,
      $defs,
      ...json
    } = z.toJSONSchema(schema, {
      io,
      override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema as JsonSchema, io),
    }) as JsonSchema;
    for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, JsonSchema>)) {
      const known = definitions[io].get(name);
      if (known && JSON.stringify(known) !== JSON.stringify(definition)) throw new Error(`Two schemas are called ${name}.`);
      definitions[io].set(name, definition);
    }
    const target: JsonSchema = {};
    pending.push({ target, json, io });
    return target;
  };

  const differing = (): Set<string> => {
    const names = new Set<string>();
    for (const [name, json] of definitions.input) {
      const other = definitions.output.get(name);
      if (other && JSON.stringify(other) !== JSON.stringify(json)) names.add(name);
    }
    for (let size = -1; size !== names.size;) {
      size = names.size;
      for (const [name, json] of definitions.input) {
        if (definitions.output.has(name) && referencesOf(json).some((reference) => names.has(reference))) names.add(name);
      }
    }
    return names;
  };

  const finish = (): Record<string, unknown> => {
    const split = differing();
    const rename = (io: Direction) => (name: string) => (io === "input" && split.has(name) ? `${name}Input` : name);
    for (const { target, json, io } of pending) Object.assign(target, rewrite(json, rename(io)));
    const all = new Map<string, unknown>();
    for (const io of ["output", "input"] as const) {
      for (const [name, json] of definitions[io]) all.set(rename(io)(name), rewrite(json, rename(io)));
    }
    return Object.fromEntries([...all].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  };

  return { use, finish };
}
