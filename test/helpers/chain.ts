import { afterAll, beforeAll } from "vitest";
import { startChain, type ChainOptions, type LocalChain } from "../../examples/chain.ts";

export { multicallAddress, usdcAddress } from "../../examples/chain.ts";

/** Starts a chain before the tests of a file, and stops it after them. Returns a function that returns the chain in a test. */
export function useChain(options: ChainOptions = {}): () => LocalChain {
  let chain: LocalChain | undefined;
  beforeAll(async () => {
    chain = await startChain(options);
  });
  afterAll(async () => chain?.stop());
  return () => {
    if (!chain) throw new Error("The chain runs from the first hook to the last.");
    return chain;
  };
}
