import { commandFor } from "#lib/process.ts";
import { env, type ChainConfiguration } from "#lib/env.ts";
import { newestBlock } from "#lib/chains/client.ts";
import { atMost } from "#lib/time.ts";

const PATIENCE_MS = 5_000;
const LOCAL_RPC = "http://127.0.0.1:8545";

const answers = ({ chain }: ChainConfiguration): Promise<boolean> => {
  const asked = newestBlock(chain).then(
    () => true,
    () => false,
  );
  return atMost(asked, PATIENCE_MS, false);
};

/** Shortens the URL of a chain's node to its origin, because the path and the query may contain a provider's key. */
function withoutKey(rpcUrl: string): string {
  const { origin, href } = new URL(rpcUrl);
  return href === `${origin}/` ? origin : `${origin}/…`;
}

/** Also tells the operator of a sandbox how to work without internet. The service does not wait for this function. */
export async function tellUnreachableChains(say: (line: string) => void): Promise<void> {
  const { ENVIRONMENT, CHAINS } = env();
  const reached = await Promise.all(CHAINS.map(answers));
  const silent = CHAINS.filter((_, index) => !reached[index]);
  if (silent.length === 0) return;
  const names = silent.map(({ chain, rpcUrl }) => `${chain} cannot be reached at ${new URL(rpcUrl).host}`);
  say(`the chain ${names.join(", and the chain ")}. Until it can, no payment is verified or settled; everything else works.`);
  if (ENVIRONMENT !== "sandbox") return;
  const local = CHAINS.map((one) => ({ ...one, rpcUrl: silent.includes(one) ? LOCAL_RPC : withoutKey(one.rpcUrl) }));
  say(`without internet, run ${commandFor("demo")} instead: it starts this service with a chain of its own.`);
  say(`to use a chain that you run on this machine, stop and start with CHAINS='${JSON.stringify(local)}'`);
}
