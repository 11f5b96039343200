import { log } from "#lib/telemetry/log.ts";
import { chainFailure } from "#lib/chains/client.ts";
import { isProblem, Problem } from "#lib/problem.ts";

const chainAway = (): Problem =>
  new Problem("rpc_unavailable", { detail: "The chain does not answer. Nothing was sent; ask again with the same key." });

/** Runs calls that read a chain. @throws Problem of `ask`; rpc_unavailable if a call fails, for example if the node is down */
export async function askingChain<T>(chain: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isProblem(error)) throw error;
    log().warn({ chain, reason: chainFailure(error) }, "The chain does not answer");
    throw chainAway();
  }
}
