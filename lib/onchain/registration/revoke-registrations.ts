import { encodeFunctionData, parseAbi, type Hex } from "viem";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { lockUnrevoked, moveRevocation, movedRevocations, requestRevocation } from "#lib/onchain/registry/revocation-store.ts";
import { insertRelays } from "#lib/onchain/relay-store.ts";
import { relayRow } from "#lib/onchain/relay-row.ts";

const abi = parseAbi(["function revoke(address account, bytes32 mandateId)"]);
const BATCH = 64;

/**
 * Includes registrations that are not confirmed yet, because the registry can revoke an id that it does not know yet. Does not
 * use queueRelay, whose limit of waiting transactions (OPEN_MAX) must not apply to revocations.
 */
export async function queueRevocations(tx: Tx, mandateId: string, beforeVersion?: number): Promise<number> {
  const registrations = await lockUnrevoked(tx, mandateId, beforeVersion);
  const rows = registrations.map(({ registrationId, organizationId, environment, chain, registry, account, onChainId }) =>
    relayRow(newId("relay"), {
      organizationId,
      environment,
      mandateId,
      chain,
      key: "guardian",
      purpose: "revokeMandate",
      entityId: registrationId,
      to: registry as Hex,
      data: encodeFunctionData({ abi, functionName: "revoke", args: [account as Hex, onChainId as Hex] }),
    }),
  );
  await insertRelays(tx, rows);
  for (const { entityId, relayId } of rows) await requestRevocation(tx, entityId, relayId);
  return rows.length;
}

const stateFor = { queued: "requested", sent: "sent", mined: "revoked" } as const;

/** Copies the status of the guardian's transactions to at most 64 registrations. Returns how many were found. */
export async function followRevocations(): Promise<number> {
  const moved = await movedRevocations(BATCH);
  for (const { registrationId, organizationId, mandateId, revocation, status, hash, ...which } of moved) {
    const to = stateFor[status as keyof typeof stateFor];
    await transact(async (tx) => {
      if (!(await moveRevocation(tx, registrationId, revocation, to)) || to !== "revoked") return;
      const event = { type: "onchain.mandateRevoked", actorId: "service", organizationId };
      const metadata = { registrationId, ...which, transaction: hash };
      audit(tx, { ...event, entityType: "mandate", entityId: mandateId, metadata }, await clock(tx));
    });
  }
  return moved.length;
}
