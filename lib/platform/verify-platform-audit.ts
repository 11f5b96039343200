import { selectChains } from "#lib/audit/checkpoint-store.ts";
import { verifyInTurn } from "#lib/audit/verify-audit.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/platform/contract.ts";

const CHAINS = 500;

/** The reply names the first chain that fails; the remaining chains are still verified. */
async function verifyAll() {
  const { firstBad, ...platform } = await verifyChain("platform");
  let bad = firstBad && { firstBad, badChain: "platform" };
  let { count } = platform;
  let chains = 1;
  let place = "";
  for (;;) {
    const names = await selectChains(place, CHAINS);
    for (const chain of names) {
      if (chain === "platform") continue;
      const found = await verifyChain(chain);
      if (found.firstBad) bad ??= { firstBad: found.firstBad, badChain: chain };
      count += found.count;
      chains += 1;
    }
    place = names.at(-1) ?? "";
    if (names.length < CHAINS) return { ...platform, valid: !bad, count, chains, ...bad };
  }
}

export const verifyPlatformAudit: Handler<typeof contract.verifyPlatformAudit> = ({ body: { chain } }) =>
  verifyInTurn(async () => {
    if (chain === undefined) return verifyAll();
    const found = await verifyChain(chain);
    return { ...found, chains: 1, ...(found.firstBad && { badChain: chain }) };
  });
