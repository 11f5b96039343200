import type * as contract from "#lib/audit/contract.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

/** A long log keeps a CPU core busy for seconds, and payments have priority. */
const RUNNING_MAX = 2;

const running = () => perProcess("audit/verify-audit", () => ({ count: 0 }));

/** @throws Problem overloaded */
export async function verifyInTurn<T>(work: () => Promise<T>): Promise<T> {
  const state = running();
  if (state.count >= RUNNING_MAX) {
    throw new Problem("overloaded", {
      detail: "Too many audit chains are being verified. Ask again in a moment.",
      retryAfterSeconds: 2,
    });
  }
  state.count += 1;
  try {
    return await work();
  } finally {
    state.count -= 1;
  }
}

export const verifyAudit: Handler<typeof contract.verifyAudit> = (_, { caller: { organizationId } }) =>
  verifyInTurn(() => verifyChain(organizationId));
