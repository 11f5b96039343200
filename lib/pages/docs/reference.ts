import { fieldsOf, type SchemaField } from "#lib/pages/docs/schema-fields.ts";
import { openApiDocument } from "#lib/openapi/openapi.ts";
import type { JsonSchema } from "#lib/openapi/openapi-schemas.ts";
import { operations } from "#lib/operations/operations.ts";
import { problems, type ProblemCode } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

type Media = { readonly schema: JsonSchema; readonly example?: unknown };
type Content = { readonly "application/json"?: Media };
type OperationText = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly [string];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationText>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

const document = (): Document => perProcess("pages/docs/reference", () => openApiDocument(operations) as unknown as Document);

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly field: SchemaField;
  readonly example: string | undefined;
};

export type Refusal = { readonly code: ProblemCode; readonly status: number; readonly title: string };

export type Reference = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Paragraphs, the last of which says who may call the operation. Text between backticks is code. */
  readonly description: readonly string[];
  /** The accepted credentials; empty if the operation is public. */
  readonly credentials: readonly ("apiKey" | "session" | "stripeSignature")[];
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly fields: readonly SchemaField[]; readonly example: unknown } | undefined;
  readonly reply: { readonly status: string; readonly fields: readonly SchemaField[]; readonly example: unknown };
  readonly refusals: readonly Refusal[];
};

const placed = (place: unknown): place is "path" | "query" => place === "path" || place === "query";

function parameterOf(given: JsonSchema): Parameter[] {
  const { name, in: place, required, schema, example } = given;
  if (typeof name !== "string" || !placed(place)) return [];
  const wrapped = { type: "object", properties: { [name]: schema as JsonSchema }, required: required === true ? [name] : [] };
  const [field] = fieldsOf(wrapped, document().components.schemas);
  if (!field) return [];
  return [
    {
      name,
      in: place,
      required: required === true,
      field,
      example:
        typeof example === "object" ? JSON.stringify(example) : String((example as string | number | boolean | undefined) ?? ""),
    },
  ];
}

function present(method: string, path: string, described: OperationText): Reference {
  const { schemas } = document().components;
  const { operationId: id, summary, description, tags, security, parameters = [], requestBody, responses } = described;
  const asked = requestBody?.content["application/json"];
  const [status = "200", success] = Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  const answered = success?.content?.["application/json"];
  const operation = operations.find((one) => one.id === id);
  return {
    id,
    method: method.toUpperCase(),
    path,
    tag: tags[0],
    summary,
    description: description.split("\n\n"),
    credentials: security.flatMap((one) => Object.keys(one)) as Reference["credentials"],
    parameters: parameters.flatMap(parameterOf),
    body: asked && { required: requestBody?.required ?? false, fields: fieldsOf(asked.schema, schemas), example: asked.example },
    reply: { status, fields: answered ? fieldsOf(answered.schema, schemas) : [], example: answered?.example },
    refusals: (operation?.problems ?? []).map((code) => ({ code, status: problems[code].status, title: problems[code].title })),
  };
}

export function referenceOf(operationId: string): Reference | undefined {
  for (const [path, methods] of Object.entries(document().paths)) {
    for (const [method, described] of Object.entries(methods)) {
      if (described.operationId === operationId) return present(method, path, described);
    }
  }
  return undefined;
}

export type Chapter = {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly Pick<Reference, "id" | "method" | "path" | "summary">[];
};

export function chapters(): readonly Chapter[] {
  return document().tags.map(({ name, description }) => ({
    tag: name,
    description,
    operations: operations
      .filter(({ tag }) => tag === name)
      .map(({ id, method, path, summary }) => ({ id, method, path, summary })),
  }));
}

const slugOf = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

export const sectionOf = (tag: string): `/${string}` => `/docs/sections/${slugOf(tag)}`;

export const chapterOf = (section: string): Chapter | undefined => chapters().find(({ tag }) => slugOf(tag) === section);

/** `**…**` marks the subject at the start of a paragraph. */
export const introduction = (): readonly string[] => document().info.description.split("\n\n");
