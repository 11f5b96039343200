import type { Caller } from "#lib/http/operation.ts";
import { notFound } from "#lib/problem.ts";

/** In the paths of operations on one mandate, `id` is the mandate. */
const MANDATE_PATH = /^\/api\/v1\/(?:onchain\/)?mandates\/\{id\}(?:\/|$)/;

type Parsed = { readonly params: Readonly<Record<string, string>>; readonly query?: unknown; readonly body?: unknown };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** The mandates that a part of a request names: its own, and those of the items of its lists. */
function namedIn(part: unknown): unknown[] {
  if (!isRecord(part)) return [];
  const items = Object.values(part).flatMap((value) => (Array.isArray(value) ? value : []));
  return [part, ...items].flatMap((one) => (isRecord(one) && one["mandateId"] !== undefined ? [one["mandateId"]] : []));
}

/**
 * Refuses a request of an agent that names a mandate which a person did not choose for it. The choice is made with the account and never
 * changes, so it needs no lock.
 * @throws Problem not_found
 */
export function requireOwnMandates(caller: Caller | null, path: string, { params, query, body }: Parsed): void {
  if (caller?.kind !== "key" || caller.mandateIds === undefined) return;
  const inPath = MANDATE_PATH.test(path) ? [params["id"]] : [];
  const named = [...inPath, ...namedIn(query), ...namedIn(body)];
  if (named.some((id) => typeof id !== "string" || !caller.mandateIds?.includes(id))) throw notFound("mandate");
}
