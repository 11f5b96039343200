import { beforeAll } from "vitest";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { CHAIN } from "#test/mandates.ts";

/** A second token of the tests, with 18 decimals, where USDC has 6. */
const EURX = {
  asset: "EURX",
  tokenAddress: "0x00000000000000000000000000000000000e0e0e",
  tokenName: "Euro",
  tokenVersion: "1",
  tokenDecimals: 18,
};

/** A policy in USD. By default 1 USDC counts as 1 USD and 1 EURX as 1.12 USD. */
export const inUsd = (
  limits: Record<string, unknown>,
  rates: Readonly<Record<string, string>> = { USDC: "1", EURX: "1.12" },
) => ({
  unit: "USD",
  assets: Object.entries(rates).map(([asset, counts]) => ({ asset, chain: CHAIN, counts })),
  limits: { perPayment: "1", ...limits },
});

/** Call this after useDatabase. */
export function useTwoTokens(): void {
  beforeAll(() => {
    const [configured] = env().CHAINS;
    process.env["CHAINS"] = JSON.stringify([{ ...configured, assets: [...configured!.assets, EURX] }]);
    forget("env");
  });
}
