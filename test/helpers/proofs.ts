import { eq, sql } from "drizzle-orm";
import { allowances } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { insertActProof } from "#lib/identity/passkeys/act-proof-store.ts";
import type { Act } from "#lib/identity/passkeys/passkey-challenge.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { organization } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { hourAhead, type Credential } from "#test/tenant.ts";

/** The act that a refusal asks a proof for. */
export const actAsked = (problem: ErrorBody): Act | null =>
  problem.code === "step_up_required" ? ((problem.nextActions[0]?.metadata?.["act"] as Act | undefined) ?? null) : null;

/** Stores the proof of an act that stepUp would store; the people of createPerson have no password. */
async function prove(as: Credential, act: Act): Promise<void> {
  const caller = await authenticate(new Request(env().BASE_URL, { headers: as }));
  if (caller?.kind !== "session") throw new Error("This is no session.");
  const { sessionId, userId } = caller;
  await database().transaction((tx) =>
    insertActProof(tx, { proofId: newId("stepUp"), sessionId, userId, ...act, expiresAt: hourAhead() }),
  );
}

/** Sends a request once more, with a proof, if it is refused for lack of one. */
export async function proved<R extends { readonly problem: ErrorBody }>(as: Credential, ask: () => Promise<R>): Promise<R> {
  const reply = await ask();
  const act = actAsked(reply.problem);
  if (!act) return reply;
  await prove(as, act);
  return ask();
}

/** Moves what a person let through with this mandate or payment to two days ago, so that it no longer counts. */
export const ageAllowance = (subjectId: string) =>
  database()
    .update(allowances)
    .set({ createdAt: sql`statement_timestamp() - interval '2 days'` })
    .where(eq(allowances.subjectId, subjectId));

/** For tests that put many mandates in force: no amount of the organization asks for a proof. */
export const raiseStepUp = (organizationId: string) =>
  database()
    .update(organization)
    .set({ stepUpAbove: "1000000000000", stepUpAboveUnverified: "1000000000000" })
    .where(eq(organization.id, organizationId));
