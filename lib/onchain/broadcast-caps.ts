import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { log } from "#lib/telemetry/log.ts";
import { createBuckets } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";
import { countSettlement } from "#lib/onchain/broadcast-store.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";

/** Settlements per second that this process sends for one selling organization; after a pause, twice as many in one second. */
const PER_SECOND = 50;
/** The id under which all organizations are counted together. Their sum is capped, because anyone can create organizations. */
const INSTALLATION = "installation";
/** The number of decimals to which amounts are scaled for a comparison: more than SETTLEMENT_MINIMUM can have, which is 18. */
const DIGITS = 36;

const perSeller = () => perProcess("onchain/broadcast-caps", () => createBuckets("settlements", PER_SECOND));

/** Counts a transaction that the service pays for; false if the organization or the installation is at its daily limit. */
export async function countGas(tx: Tx, organizationId: string): Promise<boolean> {
  const { SETTLEMENT_DAILY_CAP, SETTLEMENT_DAILY_CAP_TOTAL } = env();
  const own = { organizationId, cap: SETTLEMENT_DAILY_CAP };
  const total = { organizationId: INSTALLATION, cap: SETTLEMENT_DAILY_CAP_TOTAL };
  const reached = await countSettlement(tx, own, total);
  if (reached !== "total") return reached === null;
  log().error({ cap: SETTLEMENT_DAILY_CAP_TOTAL }, "The transactions that this installation pays for are used up for today");
  return false;
}

/** Whether the service may send a settlement for a seller now. A settlement that may be sent is counted. */
export const mayBroadcast = async (tx: Tx, sellerOrganizationId: string): Promise<boolean> =>
  perSeller()(sellerOrganizationId).allowed && countGas(tx, sellerOrganizationId);

type Token = { readonly asset: string; readonly tokenDecimals: number };

/** The smallest payment whose gas the service pays, such as "0.001 USDC", if this one is smaller. Otherwise null. */
export function leastIfSmaller(amount: bigint, { asset, tokenDecimals }: Token): string | null {
  const least = env().SETTLEMENT_MINIMUM;
  const [whole = "", fraction = ""] = least.split(".");
  const scaled = BigInt(whole + fraction.padEnd(DIGITS, "0"));
  return amount * 10n ** BigInt(DIGITS) >= scaled * 10n ** BigInt(tokenDecimals) ? null : `${least} ${asset}`;
}

/** What a seller is told. Null if the payment is large enough for the service to pay its gas. */
export function tooSmallToSell(amount: bigint, token: Token): string | null {
  const least = leastIfSmaller(amount, token);
  return (
    least &&
    `The service pays the gas of payments from ${least} on, and this one is smaller. Sell in larger amounts, or settle it yourself.`
  );
}

/** What a buyer's agent is told. Null if the payment is large enough for the service to pay its gas. */
export function refuseSmall(amount: bigint, token: Token): ({ readonly ok: false } & Failure) | null {
  const least = leastIfSmaller(amount, token);
  return least === null
    ? null
    : failed(
        "settlement_rejected",
        `This service settles the seller's payments from ${least} on, and this one is smaller. Nothing was sent. Ask the seller to charge for more at once.`,
      );
}
