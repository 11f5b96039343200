import type { Caller } from "#lib/http/operation.ts";
import { notFound } from "#lib/problem.ts";

/** In these paths, `id` is the id of a mandate. */
const MANDATE_PATH = /^\/api\/v1\/(?:onchain\/)?mandates\/\{id\}(?:\/|$)/;

type Parsed = { readonly params: Readonly<Record<string, string>>; readonly query?: unknown; readonly body?: unknown };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** The `mandateId` of the object itself and of the items in its lists, but of nothing deeper. */
function namedIn(part: unknown): unknown[] {
  if (!isRecord(part)) return [];
  const items = Object.values(part).flatMap((value) => (Array.isArray(value) ? value : []));
  return [part, ...items].flatMap((one) => (isRecord(one) && one["mandateId"] !== undefined ? [one["mandateId"]] : []));
}

/** The mandates of an agent are chosen when it is created and never change, so no lock is needed. @throws Problem not_found */
export function requireOwnMandates(caller: Caller | null, path: string, { params, query, body }: Parsed): void {
  if (caller?.kind !== "key" || caller.mandateIds === undefined) return;
  const inPath = MANDATE_PATH.test(path) ? [params["id"]] : [];
  const named = [...inPath, ...namedIn(query), ...namedIn(body)];
  if (named.some((id) => typeof id !== "string" || !caller.mandateIds?.includes(id))) throw notFound("mandate");
}
