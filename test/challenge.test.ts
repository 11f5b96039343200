import { expect, test } from "vitest";
import { challengeFrom } from "../sdk/src/challenge.ts";
import { ChallengeRefused } from "../sdk/src/errors.ts";

const url = "https://seller.example.com/report";
const tokenAddress = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const token = { asset: "USDC", chain: "eip155:84532", tokenAddress, tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
const offer = {
  scheme: "exact",
  network: token.chain,
  amount: "250000",
  asset: tokenAddress,
  payTo: `0x${"0a".repeat(20)}`,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
};
const read = (...accepts: readonly object[]) => challengeFrom({ x402Version: 2, resource: { url }, accepts }, url, token);

test.each([60.5, 0, -60, Number.NaN, 1e300, "60", null, undefined])(
  "an offer with the maxTimeoutSeconds %s cannot be signed, so another offer is taken, or the 402 is refused",
  async (maxTimeoutSeconds) => {
    const odd = { ...offer, maxTimeoutSeconds };
    await expect(read(odd)).rejects.toThrow(ChallengeRefused);
    const version1 = { ...odd, network: "base-sepolia", maxAmountRequired: offer.amount, resource: url };
    await expect(challengeFrom({ x402Version: 1, accepts: [version1] }, url, token)).rejects.toThrow(ChallengeRefused);
    expect((await read(odd, offer)).offer).toEqual(offer);
  },
);
