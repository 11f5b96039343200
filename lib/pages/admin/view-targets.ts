import { database } from "#lib/db/client.ts";
import { formatAmount, atomicOf } from "#lib/money.ts";
import { assetOf } from "#lib/chains/chains.ts";
import {
  countLiveKeys,
  findAnyAgent,
  findAnyMandate,
  findAnySeller,
  selectUnderWay,
  sumHeld,
  type Target,
} from "#lib/platform/emergency-store.ts";
import { sweptUntil } from "#lib/holds/sweep-store.ts";
import { reachOfStop } from "#lib/sellers/stop-store.ts";
import { MandateStatus, SettlementStatus, type Environment } from "#lib/vocabulary.ts";

const UNDER_WAY = 20;

const decimals = (chain: string, asset: string): number => assetOf(chain, asset)?.tokenDecimals ?? 0;

async function factsOf(environment: Environment, { kind, id }: Target) {
  const db = database();
  if (kind === "mandate") {
    const row = await findAnyMandate(db, environment, id);
    return row && { ...row, state: MandateStatus.parse(row.status), keys: null, domain: null };
  }
  if (kind === "agent") {
    const row = await findAnyAgent(db, environment, id);
    const state = row?.revokedAt ? ("revoked" as const) : ("active" as const);
    return row && { ...row, state, keys: await countLiveKeys(db, id), domain: null };
  }
  const row = await findAnySeller(db, environment, id);
  if (!row) return null;
  const reach = await reachOfStop(db, { ...row, sellerId: id });
  return { ...row, state: row.stoppedAt ? ("stopped" as const) : ("active" as const), keys: null, reach };
}

export type TargetView = Awaited<ReturnType<typeof viewTarget>>;

/** What an emergency revocation would affect; `facts` is null if this environment has no such target. */
export async function viewTarget(environment: Environment, target: Target) {
  const facts = await factsOf(environment, target);
  if (!facts) return { ...target, facts: null, reach: [], held: [], underWay: [], moreUnderWay: false };
  const reach = "reach" in facts ? facts.reach : [];
  const [held, underWay] = await Promise.all([
    sweptUntil(database()).then((since) => sumHeld(database(), target, since)),
    selectUnderWay(database(), target, UNDER_WAY + 1, reach),
  ]);
  const { name, state, organizationId, organizationName, keys, domain } = facts;
  return {
    ...target,
    facts: { name, state, organizationId, organizationName, keys, domain },
    reach,
    held: held.map(({ count, amount, asset, chain }) => ({
      count,
      asset,
      amount: formatAmount(atomicOf(amount ?? "0"), decimals(chain, asset)),
    })),
    moreUnderWay: underWay.length > UNDER_WAY,
    underWay: underWay.slice(0, UNDER_WAY).map(({ executionId, settlementStatus, amount, asset, chain }) => ({
      executionId,
      status: SettlementStatus.parse(settlementStatus),
      asset,
      amount: formatAmount(amount, decimals(chain, asset)),
    })),
  };
}
