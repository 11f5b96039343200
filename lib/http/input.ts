import type { z } from "zod";
import { escapePointer, parseJson, readBody, usualLimits } from "#lib/http/json.ts";
import type { Operation } from "#lib/http/operation.ts";
import { invalidField, notFound, Problem, type FieldError } from "#lib/problem.ts";

const ERRORS_MAX = 32;
const ID = /^[A-Za-z0-9_.:-]{1,128}$/;

type Issue = z.core.$ZodIssue;

const pointerOf = (base: string, path: readonly PropertyKey[]): string =>
  (base + path.map((part) => `/${escapePointer(String(part))}`).join("")).slice(0, 256);

/** For a union, names only the errors of the schema with the fewest. The pointer of an unknown field points at the field. */
function fieldErrors(base: string, issues: readonly Issue[]): FieldError[] {
  return issues.flatMap((issue): FieldError[] => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((name) => ({ detail: "This field is not known.", pointer: pointerOf(base, [...issue.path, name]) }));
    }
    if (issue.code === "invalid_union" && issue.errors.length > 0) {
      const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
      return fieldErrors(pointerOf(base, issue.path), closest ?? []);
    }
    const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return [{ detail: missing ? "This field is required." : issue.message, pointer: pointerOf(base, issue.path) }];
  });
}

/** @throws Problem invalid_request with a pointer to each field that is wrong, at most 32 */
export function check(schema: z.ZodType, value: unknown, base: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const byPointer = new Map(fieldErrors(base, result.error.issues).map((error) => [error.pointer, error]));
  const errors = [...byPointer.values()].slice(0, ERRORS_MAX);
  throw new Problem("invalid_request", {
    detail: errors.length === 1 ? "The request has an invalid field." : `The request has ${errors.length} invalid fields.`,
    errors,
  });
}

/** The path is still percent-encoded. */
export function splitUrl(url: string): { readonly path: string; readonly search: string } {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const mark = url.indexOf("?", start);
  if (start < 0) return { path: "/", search: "" };
  return mark < 0 ? { path: url.slice(start), search: "" } : { path: url.slice(start, mark), search: url.slice(mark + 1) };
}

type Params = Readonly<Record<string, string>>;

/** Decodes each parameter once. A value that cannot be an id is a 404, or a 400 for PUT. */
function compileParams({ path: template, method }: Operation): (path: string) => Params {
  const segments = template.split("/");
  const names = segments.flatMap((segment, at) => (segment.startsWith("{") ? [{ name: segment.slice(1, -1), at }] : []));
  if (names.length === 0) {
    return (path) => {
      if (path !== template) throw notFound("path");
      return {};
    };
  }
  return (path) => {
    const given = path.split("/");
    if (given.length !== segments.length) throw notFound("path");
    const params: Record<string, string> = {};
    for (const { name, at } of names) {
      const value = decodeSegment(given[at] ?? "");
      if (value === null || !ID.test(value)) {
        throw method === "PUT"
          ? invalidField(`/path/${name}`, "This is not an id: use letters, digits and _ . : -")
          : notFound("resource");
      }
      params[name] = value;
    }
    return params;
  };
}

/** Null if the percent-encoding is broken or the decoded bytes are not UTF-8. */
export function decodeSegment(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

const UNUSABLE = /[\0\uFFFD]/;

function readQuery(schema: z.ZodType | undefined, search: string): unknown {
  const query: Record<string, string> = {};
  if (search !== "") {
    for (const [name, value] of new URLSearchParams(search)) {
      const pointer = pointerOf("/query", [name]);
      if (UNUSABLE.test(name) || UNUSABLE.test(value))
        throw invalidField(pointer, "The text has characters that are not allowed.");
      if (Object.hasOwn(query, name)) throw invalidField(pointer, "This parameter is given twice.");
      if (!schema || name === "__proto__") throw invalidField(pointer, "This parameter is not known.");
      query[name] = value;
    }
  }
  return schema ? check(schema, query, "/query") : undefined;
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

export type ParsedInput = {
  readonly params: Params;
  readonly query: unknown;
  /** The body before validation, from which the request's fingerprint is computed. */
  readonly raw: unknown;
  readonly body: unknown;
};

/** The returned function throws Problem not_found, invalid_request or body_too_large. */
export function compileInput(operation: Operation): (request: Request) => Promise<ParsedInput> {
  const readParams = compileParams(operation);
  const { method, query: querySchema, body: bodySchema, bodyLimits: limits = usualLimits } = operation;
  return async (request) => {
    const { path, search } = splitUrl(request.url);
    const params = readParams(path);
    const query = readQuery(querySchema, search);
    if (method === "GET") return { params, query, raw: undefined, body: undefined };
    const text = await readBody(request, limits.bytes);
    if (operation.access === "signature") return { params, query, raw: text, body: text };
    const raw = text === "" ? {} : parseJson(text, limits.nodes, limits.depth);
    if (bodySchema) return { params, query, raw, body: check(bodySchema, raw, "") };
    if (!isEmptyObject(raw)) throw invalidField("", "This operation takes no body.");
    return { params, query, raw, body: undefined };
  };
}
