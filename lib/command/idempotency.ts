import { hash } from "node:crypto";
import { transact, writeNoted } from "#lib/audit/transact.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { lockedOut } from "#lib/db/failure.ts";
import { claimSlot, findReply } from "#lib/command/idempotency-store.ts";
import { storedReply, type Idempotency, type Operation, type Output, type StoredReply } from "#lib/http/operation.ts";
import { keyReusedDetail, isProblem, Problem } from "#lib/problem.ts";
import type { Environment } from "#lib/vocabulary.ts";

type Scope = {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly operationId: string;
  readonly key: string;
};

/** Only 132 bits, because each payment stores two of these hashes and an index entry. */
const shortHash = (text: string): string => hash("sha256", text, "base64url").slice(0, 22);

/** Leaves the API key out, so that a retry with a new API key does not pay twice; `organizationId` may be a person's id. */
export const slotOf = ({ organizationId, environment, operationId, key }: Scope): string =>
  shortHash(`${organizationId}\n${environment}\n${operationId}\n${key}`);

/** `canonical` must be equal in all retries, such as RFC 8785 JSON without the fields that a retry may change. */
export const fingerprintOf = (canonical: string): string => shortHash(canonical);

/** Most first requests end long before their lease does. */
const RETRY_MAX_SECONDS = 5;

/** The text warns against a new key, because a client that repeats a payment with a new key could pay twice. */
export const keyReused = (): Problem => new Problem("idempotency_key_reused", { detail: keyReusedDetail });

/** `leaseMs` is what is left of the time after which a repeated request goes on although the first one has not ended. */
export const inFlight = (leaseMs = 0): Problem => {
  const seconds = Math.ceil(leaseMs / 1_000);
  const latest = ` If its process was ended, a repeated request goes on in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
  return new Problem("idempotency_in_flight", {
    detail: `A request with this idempotency key is still running. Ask again in a moment.${seconds > 0 ? latest : ""}`,
    retryAfterSeconds: Math.min(RETRY_MAX_SECONDS, Math.max(1, seconds)),
  });
};

/** Thrown if a request with the same idempotency key committed first, so that the transaction is rolled back. */
export class LostSlot extends Error {}

/** @throws LostSlot if a request with the same key has committed, Problem idempotency_in_flight if that request still runs */
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
 * Commits `work`, its reply and its audit events at most once per idempotency key, and a retry gets the stored bytes.
 * The reply is stored after `work` has taken its locks, to keep the lock order: mandates, replies, audit logs.
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
