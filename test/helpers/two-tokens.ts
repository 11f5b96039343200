import { beforeAll } from "vitest";
import { usdcAddress, type LocalChain } from "../../examples/chain.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { CHAIN } from "#test/mandates.ts";

/** A second token of the tests, with 18 decimals, where USDC has 6. Its contract has the code of USDC. */
export const EURX = {
  asset: "EURX",
  tokenAddress: "0x00000000000000000000000000000000000e0e0e",
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 18,
} as const;

/** A policy in USD. By default 1 USDC counts as 1 USD and 1 EURX as 1.12 USD. */
export const inUsd = (
  limits: Record<string, unknown>,
  rates: Readonly<Record<string, string>> = { USDC: "1", EURX: "1.12" },
) => ({
  unit: "USD",
  assets: Object.entries(rates).map(([asset, counts]) => ({ asset, chain: CHAIN, counts })),
  limits: { perPayment: "1", ...limits },
});

/** Call this after useDatabase, and after useSettlement if the second token is paid too. */
export function useTwoTokens(chain?: () => LocalChain): void {
  beforeAll(async () => {
    const client = chain?.().client;
    const bytecode = await client?.getCode({ address: usdcAddress });
    if (bytecode) await client?.setCode({ address: EURX.tokenAddress, bytecode });
    const [configured] = env().CHAINS;
    process.env["CHAINS"] = JSON.stringify([{ ...configured, assets: [...configured!.assets, EURX] }]);
    forget("env");
  });
}
