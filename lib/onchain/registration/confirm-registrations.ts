import { isAddressEqual, type Address, type Hex } from "viem";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainFailure, publicClient } from "#lib/chains/client.ts";
import { confirmedBlock } from "#lib/onchain/evidence.ts";
import {
  closeRegistration,
  dueRegistrations,
  findRegistration,
  noteTransaction,
  postponeCheck,
  type RegistrationRow,
} from "#lib/onchain/registry/registration-store.ts";
import { registryAbi } from "#lib/onchain/registry/registry.ts";
import { relayOutcome, type RelayOutcome } from "#lib/onchain/relay/queue-relay.ts";

const LIST = 100;
const AGAIN_MS = 1_000;
const AFTER_SILENCE_MS = 10_000;
/** Milliseconds that are added to a deadline, because the chain's clock and the database's differ a little. */
const GRACE_MS = 30_000;

/** The contract's state decides whether a registration is registered or failed, no matter who sent the transaction. */
export async function confirmRegistrations(): Promise<void> {
  for (const row of await dueRegistrations(database(), LIST)) {
    try {
      await confirm(row);
    } catch (error) {
      log().warn(
        { registrationId: row.registrationId, failure: chainFailure(error) },
        "A registration could not be confirmed yet",
      );
      await postponeCheck(database(), row.registrationId, AFTER_SILENCE_MS);
    }
  }
}

/** Checks one submitted registration now, even if its next check is not due. @throws if the chain does not answer */
export async function confirmRegistration(registrationId: string): Promise<void> {
  const row = await findRegistration(database(), registrationId);
  if (row?.status === "submitted") await confirm(row);
}

async function confirm(row: RegistrationRow): Promise<void> {
  const outcome = await relayOutcome(database(), row.relayId);
  if (outcome.hash !== null) await noteTransaction(database(), row.registrationId, outcome.hash);
  if (outcome.status === "queued" || outcome.status === "sent") return postponeCheck(database(), row.registrationId, AGAIN_MS);
  const registered = await isOnChain(row);
  if (!registered && mayStillCome(row, outcome, await clock(database()))) {
    return postponeCheck(database(), row.registrationId, outcome.status === "mined" ? AGAIN_MS : AFTER_SILENCE_MS);
  }
  await transact((tx) => close(tx, row, outcome, registered));
}

/** The node may not have a mined block yet, and until the deadline anybody can submit a signature that was sent. */
function mayStillCome({ deadline }: RegistrationRow, { status, hash, earlierHashes }: RelayOutcome, now: Date): boolean {
  const wasSent = hash !== null || earlierHashes.length > 0;
  return status === "mined" || (wasSent && now.getTime() <= deadline * 1_000 + GRACE_MS);
}

/** Asks the registry, because anybody may have submitted the signature. */
async function isOnChain({ chain, registry, account, onChainId, termsHash, payee }: RegistrationRow): Promise<boolean> {
  const terms = await publicClient(chain).readContract({
    address: registry as Hex,
    abi: registryAbi,
    functionName: "termsOf",
    args: [account as Hex, onChainId as Hex],
    blockNumber: await confirmedBlock(chain),
  });
  return (
    isAddressEqual(terms.account, account as Address) &&
    terms.termsHash === termsHash &&
    isAddressEqual(terms.payee, payee as Address)
  );
}

async function close(tx: Tx, row: RegistrationRow, { status, hash, failure }: RelayOutcome, registered: boolean): Promise<void> {
  const now = await clock(tx);
  const { registrationId } = row;
  const mined = status === "mined" && hash !== null && { txHash: hash };
  const closed = registered
    ? await closeRegistration(tx, registrationId, { status: "registered", confirmedAt: now, ...mined })
    : await closeRegistration(tx, registrationId, { status: "failed", failure: failure ?? "It had no effect on the chain." });
  if (!closed) return;
  const { organizationId, mandateId, version, chain, account, txHash } = closed;
  const type = registered ? "onchain.mandateRegistrationConfirmed" : "onchain.mandateRegistrationFailed";
  const event = { type, actorId: "service", organizationId, entityType: "mandate", entityId: mandateId };
  const known = { ...(txHash !== null && { txHash }), ...(failure !== null && { failure }) };
  audit(tx, { ...event, metadata: { registrationId, version, chain, account, ...known } }, now);
}
