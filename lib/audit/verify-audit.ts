import { genesis } from "#lib/audit/chain.ts";
import type * as contract from "#lib/audit/contract.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { checkEnd, followChain } from "#lib/audit/verify-chain.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

/** What is in memory at once. */
const BATCH = 500;
/** A long chain takes seconds of one core; payments come first. */
const RUNNING_MAX = 2;

const running = () => perProcess("verifications", () => ({ count: 0 }));

/** Verifies one chain up to the end that it has now, batch by batch; what is appended meanwhile is for the next time. */
export async function verifyChain(chain: string): Promise<contract.AuditVerification> {
  const ends = await readEnds(chain);
  if (!ends) return { valid: true, count: 0, head: genesis.hash };
  let head = genesis;
  while (head.sequence < ends.sequence) {
    const events = await readEvents(chain, head.sequence, ends.sequence, BATCH);
    if (events.length === 0) break;
    const followed = followChain(head, events);
    head = followed.head;
    if (followed.bad) return { valid: false, count: head.sequence, head: head.hash, firstBad: followed.bad };
  }
  const bad = checkEnd(head, ends, ends.newest);
  return { valid: bad === null, count: head.sequence, head: head.hash, ...(bad && { firstBad: bad }) };
}

export const verifyAudit: Handler<typeof contract.verifyAudit> = async (_, { caller: { organizationId } }) => {
  const state = running();
  if (state.count >= RUNNING_MAX) {
    throw new Problem("overloaded", {
      detail: "Other audit chains are being verified. Ask again in a moment.",
      retryAfterSeconds: 2,
    });
  }
  state.count += 1;
  try {
    return await verifyChain(organizationId);
  } finally {
    state.count -= 1;
  }
};
