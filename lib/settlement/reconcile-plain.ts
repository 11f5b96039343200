import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainFailure } from "#lib/chains/client.ts";
import { readEvidence, type Evidence } from "#lib/onchain/evidence.ts";
import { perProcess } from "#lib/process.ts";
import type { Finding } from "#lib/payments/executions/settlement-state.ts";
import { openPlainSettlements, resolvePlainSettlement, type PlainSettlement } from "#lib/settlement/store.ts";
import { spentFinding } from "#lib/settlement/submit.ts";

const BATCH = 64;
/** A younger settlement is skipped, because the request that made it may still work on it. */
const YOUNG_MS = 5_000;

/** The next check skips this many of the oldest open settlements, because earlier checks have read them. */
const place = () => perProcess("settlement/reconcile-plain", () => ({ offset: 0 }));

/** Returns the number of settlements that it tried to reconcile. */
export async function reconcilePlain(): Promise<number> {
  const { offset } = place();
  const open = await openPlainSettlements(database(), YOUNG_MS, { offset, limit: BATCH });
  let stillOpen = 0;
  for (const settlement of open) if (!(await reconcileOne(settlement))) stillOpen += 1;
  place().offset = open.length < BATCH ? 0 : offset + stillOpen;
  return open.length;
}

type SettlementOwner = Pick<PlainSettlement, "settlementId" | "organizationId" | "serviceAccountId">;

/** Returns false if the outcome is not known yet. */
async function reconcileOne(settlement: PlainSettlement): Promise<boolean> {
  const { settlementId, handedOver } = settlement;
  try {
    const finding = findingOf(await readEvidence(settlement, await clock(database())));
    if (finding.kind === "waiting") return false;
    if (finding.kind === "failed" && handedOver)
      log().error({ settlementId }, "A payment that was answered as settled at its receipt did not stay on the chain");
    await transact((tx) => resolvePlain(tx, settlement, finding));
    return true;
  } catch (error) {
    log().warn({ settlementId, reason: chainFailure(error) }, "A settlement could not be reconciled; it is asked for again");
    return false;
  }
}

function findingOf(evidence: Evidence): Finding {
  if (evidence.kind === "transferred") return { kind: "settled", transaction: evidence.transaction };
  if (evidence.kind === "spent") return spentFinding(evidence);
  if (evidence.kind === "unused") return { kind: "waiting" };
  return {
    kind: "failed",
    failure: { code: "settlement_rejected", detail: "The credential expired without having been settled." },
  };
}

/** Does nothing if the settlement already has a final outcome. */
export async function resolvePlain(
  tx: Tx,
  { settlementId, organizationId, serviceAccountId }: SettlementOwner,
  finding: Finding,
): Promise<void> {
  const transaction = finding.kind === "settled" || finding.kind === "broadcast" ? finding.transaction : null;
  const errorReason = finding.kind === "failed" ? finding.failure.code : null;
  const status = finding.kind === "settled" || finding.kind === "failed" ? finding.kind : "processing";
  if (!(await resolvePlainSettlement(tx, settlementId, { status, transaction, errorReason }))) return;
  const event = {
    type: `settlement.${status}`,
    actorId: serviceAccountId,
    organizationId,
    entityType: "settlement",
    entityId: settlementId,
  };
  const metadata = { ...(transaction !== null && { transaction }), ...(errorReason !== null && { errorReason }) };
  audit(tx, { ...event, metadata }, await clock(tx));
}
