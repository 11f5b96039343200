import type { Caller } from "#lib/http/operation.ts";

/** Null without a credential. @throws Problem for a bad one */
export async function authenticate(_request: Request): Promise<Caller | null> {
  return Promise.resolve(null);
}
