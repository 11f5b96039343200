import { describe, expect, test } from "vitest";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { Operation } from "#lib/http/operation.ts";
import { user } from "#lib/identity/tables.ts";
import { operations } from "#lib/operations/operations.ts";
import { ErrorBody } from "#lib/problem.ts";
import { dispatch } from "#lib/server/entry.ts";
import { values } from "#test/corpora.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createPerson, type Credential } from "#test/tenant.ts";

useDatabase();

/** A new owner who is also a platform admin. Each test gets one, because some operations change their caller. */
async function somebody(): Promise<Credential> {
  const { userId, credential } = await createPerson(await createOrganization());
  await database()
    .update(user)
    .set({ platformRoles: ["user", "admin"] })
    .where(eq(user.id, userId));
  return credential;
}

/** Yields each malicious value, then copies of the value, each with one of its parts replaced by a malicious value. */
function* mutations(value: unknown): Generator {
  yield* values;
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    for (const changed of mutations(part)) {
      yield Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed };
    }
  }
}

/**
 * The bodies to send: each malicious value, the example with each part replaced by each of them, and the example with each
 * absent field set to each of them.
 */
function bodiesOf({ body, example }: Operation): unknown[] {
  const base = (example.body ?? {}) as Record<string, unknown>;
  const left = body instanceof z.ZodObject ? Object.keys(body.shape).filter((name) => !Object.hasOwn(base, name)) : [];
  return [...mutations(base), ...left.flatMap((name) => values.map((value) => ({ ...base, [name]: value })))];
}

async function ask({ method, path, example }: Operation, as: Credential, body: unknown, query = ""): Promise<string | null> {
  const url = env().BASE_URL + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example.params?.[name] ?? "x") + query;
  const writes = method !== "GET";
  const headers = { ...as, ...(writes && { "content-type": "application/json" }) };
  const response = await dispatch(new Request(url, { method, headers, ...(writes && { body: JSON.stringify(body) }) }));
  const reply: unknown = await response.json();
  if (response.status >= 500) return `${response.status} for ${JSON.stringify(body).slice(0, 300)} ${query}`;
  if (response.status < 400) return null;
  return ErrorBody.safeParse(reply).success ? null : `no problem for ${JSON.stringify(body).slice(0, 300)} ${query}`;
}

describe("any value in any place gets an answer, and never a 500", () => {
  const writing = operations.filter(({ body }) => body);
  test.each(writing.map((one) => [one.id, one] as const))("in the body of %s", async (_id, operation) => {
    const as = await somebody();
    for (const body of bodiesOf(operation)) expect(await ask(operation, as, body)).toBeNull();
  });

  const asking = operations.filter(({ query, id }) => query && !id.startsWith("checkReadinessOf"));
  test.each(asking.map((one) => [one.id, one] as const))("in the query of %s", async (_id, operation) => {
    const as = await somebody();
    const names = operation.query instanceof z.ZodObject ? Object.keys(operation.query.shape) : [];
    for (const name of names) {
      for (const value of values) {
        const text = encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value));
        expect(await ask(operation, as, undefined, `?${name}=${text}`)).toBeNull();
      }
    }
  });
});
