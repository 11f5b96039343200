import { z } from "zod";
import type { Tx } from "#lib/db/client.ts";
import { once } from "#lib/command/idempotency.ts";
import { isStoredReply, type Idempotency, type Operation } from "#lib/http/operation.ts";
import { keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import type { ServiceAccount } from "#lib/identity/keys/contract.ts";
import type { ServiceAccountRow } from "#lib/identity/keys/service-account-store.ts";
import { Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

export function presentServiceAccount(row: ServiceAccountRow): ServiceAccount {
  const { serviceAccountId, name, organizationId, keyPreview, capabilities, createdAt, pausedAt } = row;
  return {
    serviceAccountId,
    name,
    organizationId,
    keyPreview,
    capabilities: [...keyCapabilitiesOf(capabilities)],
    createdAt: toWire(createdAt),
    ...(pausedAt && { pausedAt: toWire(pausedAt) }),
  };
}

const Remembered = z.object({ serviceAccountId: z.string() });

/** Only the account's id is stored, so that a retry cannot show the secret again. @throws Problem conflict for a retry */
export async function onceWithoutKey<T extends { readonly serviceAccountId: string }>(
  operation: Operation,
  idempotency: Idempotency | null,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let made: T | undefined;
  const reply = await once({ ...operation, response: Remembered }, idempotency, async (tx) => (made = await work(tx)));
  if (made && isStoredReply(reply) && !reply.replayed) return made;
  const { serviceAccountId } = Remembered.parse(JSON.parse(reply.body));
  throw new Problem("conflict", {
    detail: `An earlier request with this idempotency key succeeded for the service account ${serviceAccountId}. Its answer contained a secret and cannot be shown again: rotate the key of the account, or connect the client again.`,
  });
}
