import { keyReusedDetail } from "#lib/http/key-reused.ts";
import { hash } from "node:crypto";
import { transact, writeNoted } from "#lib/audit/transact.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { lockedOut } from "#lib/db/failure.ts";
import { claimSlot, findReply } from "#lib/command/idempotency-store.ts";
import { storedReply, type Idempotency, type Operation, type Output, type StoredReply } from "#lib/http/operation.ts";
import { isProblem, Problem } from "#lib/problem.ts";
import type { Environment } from "#lib/vocabulary.ts";

type Scope = {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly operationId: string;
  readonly key: string;
};

/**
 * The first 132 bits of a SHA-256 hash, in base64url. The hash is short because each payment stores two of them and an index
 * entry.
 */
const shortHash = (text: string): string => hash("sha256", text, "base64url").slice(0, 22);

/**
 * Computes the slot of an idempotency key: a hash under which the reply is stored. It depends on the organization (or on the
 * person, whose id is then in `organizationId`) and not on the API key, so that a retry with a new API key does not pay a
 * second time.
 */
export const slotOf = ({ organizationId, environment, operationId, key }: Scope): string =>
  shortHash(`${organizationId}\n${environment}\n${operationId}\n${key}`);

/**
 * Hashes a request, so that a different request with the same idempotency key is noticed. `canonical` is a text of the request
 * that is equal in all retries, such as its RFC 8785 JSON without the fields that a retry may change.
 */
export const fingerprintOf = (canonical: string): string => shortHash(canonical);

/**
 * Makes the problem for a key that was used for another request. Its text never suggests a new key, because a client that repeats
 * the first request with a new key would pay a second time.
 */
export const keyReused = (): Problem => new Problem("idempotency_key_reused", { detail: keyReusedDetail });

export const inFlight = (): Problem =>
  new Problem("idempotency_in_flight", {
    detail: "A request with this idempotency key is still running. Ask again in a moment.",
    retryAfterSeconds: 1,
  });

/** Thrown if a request with the same idempotency key committed first, so that the transaction is rolled back. */
export class LostSlot extends Error {}

/**
 * Stores a reply under its idempotency key, of which `slot` is a hash.
 * @throws LostSlot if another request stored its reply first, Problem idempotency_in_flight if that request is still running
 */
export async function keepReply(tx: Tx, stored: Parameters<typeof claimSlot>[1]): Promise<void> {
  const claimed = await claimSlot(tx, stored).catch((error: unknown) => {
    throw lockedOut(error) ? inFlight() : error;
  });
  if (!claimed) throw new LostSlot();
}

export async function replay(idempotency: Idempotency, on?: Database): Promise<StoredReply | null> {
  const old = await findReply(idempotency.slot, on);
  if (!old) return null;
  if (old.fingerprint !== idempotency.fingerprint) throw keyReused();
  return storedReply(old.status, old.body, true);
}

/**
 * Runs a command once per idempotency key. The work, the stored reply and the audit events commit together, and a retry gets the
 * stored bytes. The reply is stored after the work has taken its locks (lock order: mandates, replies, audit logs). If another
 * request with the same key commits first, this one rolls back and returns that reply. Without a key, nothing is stored for a
 * retry.
 * @throws Problem idempotency_key_reused, idempotency_in_flight
 */
export async function once<O extends Operation>(
  operation: O,
  idempotency: Idempotency | null,
  work: (tx: Tx) => Promise<Output<O>>,
  on?: Database,
): Promise<StoredReply> {
  const status = operation.status ?? 200;
  const serialize = (output: Output<O>): string => JSON.stringify(operation.response.parse(output));
  if (!idempotency) return storedReply(status, await transact(async (tx) => serialize(await work(tx)), on), false);
  const earlier = await replay(idempotency, on);
  if (earlier) return earlier;
  try {
    const body = await transact(async (tx) => {
      const text = serialize(await work(tx));
      await keepReply(tx, { ...idempotency, status, body: text });
      await writeNoted(tx);
      return text;
    }, on);
    return storedReply(status, body, false);
  } catch (error) {
    const twin = error instanceof LostSlot || isProblem(error) ? await replay(idempotency, on) : null;
    if (twin) return twin;
    throw error;
  }
}
