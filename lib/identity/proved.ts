import type { Database, Tx } from "#lib/db/client.ts";
import { provedAt } from "#lib/identity/passkey-store.ts";
import { Problem } from "#lib/problem.ts";
import { minutes } from "#lib/time.ts";

/** As long as a step-up: who changes how he signs in has just proved who he is. */
export const PROVED_MS = minutes(5);

export const isProved = (at: Date | null, now: Date): boolean => at !== null && now.getTime() - at.getTime() <= PROVED_MS;

/** @throws Problem step_up_required */
export async function requireProved(db: Database | Tx, sessionId: string, now: Date): Promise<void> {
  if (isProved(await provedAt(db, sessionId), now)) return;
  throw new Problem("step_up_required", {
    detail: "Confirm that it is you first: this changes how you sign in.",
    nextActions: [{ type: "step_up", label: "Confirm that it is you", href: "/api/v1/auth/confirm" }],
  });
}
