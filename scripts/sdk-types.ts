/**
 * Writes the types of all operations for the package in sdk/. Run this after a contract has changed: a test fails while its
 * types are outdated.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApiDocument } from "#lib/openapi/openapi.ts";
import { denialActions } from "#lib/mandates/policy/denials.ts";
import { operations } from "#lib/operations/operations.ts";
import { DenialCode } from "#lib/vocabulary.ts";

export const TYPES_FILE = join(import.meta.dirname, "../sdk/src/operations.ts");

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);
const schemas = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);
const nameIn = (reference: unknown): string => String(reference).split("/").at(-1) ?? "";
const property = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

const comment = ({ description }: Schema, indent = ""): string =>
  typeof description === "string" ? `${indent}/** ${description.replaceAll("*/", "* /").replaceAll(/\s+/g, " ")} */\n` : "";

const primitives: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

function objectType(schema: Schema, indent: string): string {
  const { properties, required, additionalProperties } = schema;
  const inner = `${indent}  `;
  const members = Object.entries(isSchema(properties) ? properties : {}).map(([name, value]) => {
    const member = value as Schema;
    const mark = Array.isArray(required) && required.includes(name) ? "" : "?";
    return `${comment(member, inner)}${inner}readonly ${property(name)}${mark}: ${typeOf(member, inner)};\n`;
  });
  if (members.length === 0 && additionalProperties === false) return "Readonly<Record<string, never>>";
  const values = isSchema(additionalProperties) ? typeOf(additionalProperties, indent) : "unknown";
  const others = `Readonly<Record<string, ${values}>>`;
  if (members.length === 0) return others;
  const named = `{\n${members.join("")}${indent}}`;
  return values === "unknown" ? named : `${named} & ${others}`;
}

const union = (types: readonly string[], by = " | "): string => {
  const different = [...new Set(types)];
  return different.length > 1 ? `(${different.join(by)})` : (different[0] ?? "unknown");
};

/** The TypeScript type of a JSON schema. It handles only the parts of JSON Schema that the API's OpenAPI document uses. */
function typeOf(schema: Schema, indent = ""): string {
  const { $ref, const: value, enum: values, anyOf, oneOf, allOf, type, items } = schema;
  if ($ref !== undefined) return nameIn($ref);
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return union(values.map((one) => JSON.stringify(one)));
  if (anyOf ?? oneOf) return union(schemas(anyOf ?? oneOf).map((one) => typeOf(one, indent)));
  if (allOf)
    return union(
      schemas(allOf).map((one) => typeOf(one, indent)),
      " & ",
    );
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, indent)));
  if (type === "array") return `readonly ${arrayOf(isSchema(items) ? typeOf(items, indent) : "unknown")}`;
  if (type === "object") return objectType(schema, indent);
  return primitives[String(type)] ?? "unknown";
}

const arrayOf = (type: string): string => (/^(?:readonly )/.test(type) ? `(${type})[]` : `${type}[]`);

type Described = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Schema[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly "application/json": { readonly schema: Schema } };
  };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
};

function requestType({ parameters = [], requestBody }: Described): string {
  const parts = parameters.filter((one) => one["in"] === "path").map((one) => `readonly ${String(one["name"])}: string;`);
  const queries = parameters.filter((one) => one["in"] === "query");
  if (queries.length > 0) {
    const members = queries.map(
      (one) =>
        `readonly ${String(one["name"])}${one["required"] === true ? "" : "?"}: ${typeOf(one["schema"] as Schema, "      ")};`,
    );
    const mark = queries.some((one) => one["required"] === true) ? "" : "?";
    parts.push(`readonly query${mark}: { ${members.join(" ")} };`);
  }
  if (requestBody) {
    const mark = requestBody.required ? "" : "?";
    parts.push(`readonly body${mark}: ${typeOf(requestBody.content["application/json"].schema, "    ")};`);
  }
  return parts.length === 0 ? "Readonly<Record<string, never>>" : `{ ${parts.join(" ")} }`;
}

function responseType({ responses }: Described): string {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const schema = success?.content?.["application/json"]?.schema;
  return schema ? typeOf(schema, "    ") : "unknown";
}

/** The text of TYPES_FILE. */
export function operationTypes(): string {
  const document = openApiDocument(operations) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const named = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)};\n`,
  );
  const all = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
    )
    // Sort by name, because the order of a module's exports depends on how the module was loaded.
    .toSorted((a, b) => (a.described.operationId < b.described.operationId ? -1 : 1));
  const types = all.map(
    ({ described }) =>
      `  /** ${described.summary}. */\n  readonly ${described.operationId}: {\n    readonly request: ${requestType(described)};\n    readonly response: ${responseType(described)};\n  };\n`,
  );
  const addresses = all.map(({ path, method, described }) => `  ${described.operationId}: ${JSON.stringify([method, path])},\n`);
  const denied = DenialCode.options.map((code) => `  ${code}: ${JSON.stringify(denialActions(code))},\n`);
  return [
    "// Generated by scripts/sdk-types.ts from the API's operations. Do not edit.\n\n",
    named.join("\n"),
    `\n/** The request and the response of each operation. */\nexport type Operations = {\n${types.join("")}};\n`,
    `\n/** What can be done about each denial of a payment. */\nexport const denialActions: Readonly<Record<DenialCode, readonly NextAction[]>> = {\n${denied.join("")}};\n`,
    `\n/** The method and the path of each operation. */\nexport const addresses: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {\n${addresses.join("")}};\n`,
  ].join("");
}

if (import.meta.main) await writeFile(TYPES_FILE, operationTypes());
