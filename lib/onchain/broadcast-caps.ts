import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { log } from "#lib/telemetry/log.ts";
import { createBuckets } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";
import { countSettlement } from "#lib/onchain/broadcast-store.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";

/** The number of transactions per second for which this process pays the gas for one seller. */
const PER_SECOND = 50;
/** The daily count of the whole installation, because anyone can create any number of organizations. No organization has this id. */
const INSTALLATION = "installation";
/** More decimals than any token has. */
const DIGITS = 36;

const perSeller = () => perProcess("rateLimit.broadcast", () => createBuckets("settlements", PER_SECOND));

/** We pay the gas, so an organization and the installation have a daily limit of transactions. Counts one transaction. */
export async function countGas(tx: Tx, organizationId: string): Promise<boolean> {
  const { SETTLEMENT_DAILY_CAP, SETTLEMENT_DAILY_CAP_TOTAL } = env();
  const own = { organizationId, cap: SETTLEMENT_DAILY_CAP };
  const total = { organizationId: INSTALLATION, cap: SETTLEMENT_DAILY_CAP_TOTAL };
  const reached = await countSettlement(tx, own, total);
  if (reached !== "total") return reached === null;
  log().error({ cap: SETTLEMENT_DAILY_CAP_TOTAL }, "The transactions that this installation pays for are used up for today");
  return false;
}

/** Each seller also has a rate limit. */
export const mayBroadcast = async (tx: Tx, sellerOrganizationId: string): Promise<boolean> =>
  perSeller()(sellerOrganizationId).allowed && countGas(tx, sellerOrganizationId);

/** Null if the payment is large enough for us to pay its gas. */
export function refuseSmall(
  amount: bigint,
  { asset, tokenDecimals }: { readonly asset: string; readonly tokenDecimals: number },
): ({ readonly ok: false } & Failure) | null {
  const least = env().SETTLEMENT_MINIMUM;
  const [whole = "", fraction = ""] = least.split(".");
  const scaled = BigInt(whole + fraction.padEnd(DIGITS, "0"));
  if (amount * 10n ** BigInt(DIGITS) >= scaled * 10n ** BigInt(tokenDecimals)) return null;
  const detail = `The service pays the gas of payments from ${least} ${asset} on, and this one is smaller. Sell in larger amounts, or settle it yourself.`;
  return failed("settlement_rejected", detail);
}
