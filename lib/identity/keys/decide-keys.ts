import type { Tx } from "#lib/db/client.ts";
import { lackedOf } from "#lib/identity/capabilities.ts";
import { liveKeysMade, type MadeKey } from "#lib/identity/keys/made-keys-store.ts";
import { revokeKey } from "#lib/identity/keys/service-account-store.ts";
import { Problem } from "#lib/problem.ts";
import type { Capability } from "#lib/vocabulary.ts";

const NAMED = 20;

export type KeysChoice = "keep" | "revoke";

type CapabilityLoss = {
  readonly organizationId: string;
  readonly userId: string;
  /** The capabilities that the person still has after the change; empty if the person is removed. */
  readonly left: ReadonlySet<Capability>;
};

export type DecidedKeys = { readonly keptKeys?: readonly string[]; readonly revokedKeys?: readonly string[] };

/**
 * Whoever takes capabilities away must keep or revoke the person's keys that have them, because the person may have copies. The
 * caller must close the gate and lock the organization, so that no payment uses a revoked key and no key is added.
 * @throws Problem keys_undecided
 */
export async function decideKeys(
  tx: Tx,
  { organizationId, userId, left }: CapabilityLoss,
  choice: KeysChoice | undefined,
  now: Date,
): Promise<DecidedKeys> {
  const made = await liveKeysMade(tx, organizationId, userId);
  const beyond = made.filter(({ capabilities }) => left.size === 0 || lackedOf(capabilities, left).length > 0);
  if (beyond.length === 0) return {};
  if (choice === undefined) {
    throw new Problem("keys_undecided", {
      detail: `This person made ${beyond.length} valid ${beyond.length === 1 ? "key or connection" : "keys or connections"}, and may still have copies of the keys. Send keys with the value "revoke" to revoke them, or with "keep" to leave them to the organization.`,
      errors: beyond.slice(0, NAMED).map(({ name, preview }) => ({ pointer: "/keys", detail: `${name}: ${preview}` })),
    });
  }
  const ends = ({ connection }: MadeKey): boolean => choice === "revoke" || (connection && left.size === 0);
  const revokedKeys = beyond.filter(ends).map(({ keyId }) => keyId);
  const keptKeys = beyond.filter((key) => !ends(key)).map(({ keyId }) => keyId);
  for (const keyId of revokedKeys) await revokeKey(tx, keyId, now);
  return { ...(keptKeys.length > 0 && { keptKeys }), ...(revokedKeys.length > 0 && { revokedKeys }) };
}
