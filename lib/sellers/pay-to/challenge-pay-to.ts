import { getAddress, isAddress, zeroAddress, type Address } from "viem";
import { clock } from "#lib/audit/transact.ts";
import { env } from "#lib/env.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { chainOf, onlyChain } from "#lib/chains/chains.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";
import * as contract from "#lib/sellers/pay-to/contract.ts";
import { countOpenChallenges, insertPayToChallenge } from "#lib/sellers/pay-to-store.ts";
import { findOwnSeller, type SellerRow } from "#lib/sellers/store.ts";
import { minutes, toWire } from "#lib/time.ts";

const LIFE_MS = minutes(15);
const OPEN_MAX = 50;

function readPayTo(payTo: string): Address {
  if (payTo.toLowerCase() === zeroAddress) throw invalidField("/payTo", "Nobody has the zero address.");
  if (!isAddress(payTo)) throw invalidField("/payTo", "The checksum of this address is wrong; check it for a typing error.");
  return getAddress(payTo);
}

function readChain(named: string | undefined): string {
  const chain = named ?? onlyChain();
  if (chain === null) throw invalidField("/chain", "This installation has several chains; name one.");
  if (!chainOf(chain)) throw invalidField("/chain", `This installation does not pay on ${chain}.`);
  return chain;
}

type ChallengeText = {
  readonly seller: SellerRow;
  readonly payTo: string;
  readonly chain: string;
  readonly challengeId: string;
  readonly expiresAt: Date;
};

/** The text contains no names, because a name that a person entered could imitate a line of the text. */
const textOf = ({ seller, payTo, chain, challengeId, expiresAt }: ChallengeText): string =>
  [
    `${new URL(env().BASE_URL).origin} asks for proof that you control this address.`,
    "",
    `Address: ${payTo}`,
    `Network: ${chain}`,
    `Organization: ${seller.organizationId}`,
    `Seller: ${seller.sellerId} at ${seller.domain}`,
    `Environment: ${seller.environment}`,
    `Challenge: ${challengeId}`,
    `Valid until: ${toWire(expiresAt)}`,
    "",
    "Signing this moves no money and allows no payment.",
  ].join("\n");

export const challengePayTo: Handler<typeof contract.challengePayTo> = ({ body }, { caller, idempotency }) =>
  once(contract.challengePayTo, idempotency, async (tx) => {
    const payTo = readPayTo(body.payTo);
    const chain = readChain(body.chain);
    const { organizationId, environment, subjectId } = caller;
    const seller = await findOwnSeller(tx, environment, organizationId, body.sellerId);
    if (!seller) throw notFound("seller");
    if ((await countOpenChallenges(tx, organizationId)) >= OPEN_MAX) {
      throw new Problem("rate_limited", {
        detail: "Too many texts of this organization wait for a signature. Use one of them, or wait until they expire.",
        retryAfterSeconds: 60,
      });
    }
    const now = await clock(tx);
    const challengeId = newId("payToChallenge");
    const { sellerId } = seller;
    const expiresAt = new Date(now.getTime() + LIFE_MS);
    const text = textOf({ seller, payTo, chain, challengeId, expiresAt });
    const scope = { organizationId, environment, sellerId, address: payTo.toLowerCase(), chain };
    await insertPayToChallenge(tx, { ...scope, challengeId, text, createdBy: subjectId, createdAt: now, expiresAt });
    return { challengeId, sellerId, payTo, chain, text, expiresAt: toWire(expiresAt) };
  });
