import type { Tx } from "#lib/db/client.ts";
import { stagesOf } from "#lib/pages/buyer/payments/page-store.ts";
import { stageOf, type Stage, type StageFacts } from "#lib/payments/stage.ts";

type Row = { readonly authorizationId: string; readonly outcome: string };
type Attempt = Awaited<ReturnType<typeof stagesOf>>["attempts"][number];

/** Returns a function that tells where a payment of these rows is now, and its executions, oldest first. */
export async function readStages(
  tx: Tx,
  rows: readonly Row[],
  now: Date,
): Promise<(row: Row) => { readonly stage: Stage; readonly attempts: readonly Attempt[] }> {
  const { attempts, holds, checkouts, repeats } = await stagesOf(
    tx,
    rows.map((row) => row.authorizationId),
  );
  return (row) => {
    const own = <R extends { readonly authorizationId: string | null }>(all: readonly R[]) =>
      all.filter(({ authorizationId }) => authorizationId === row.authorizationId);
    const tried = own(attempts);
    const facts = {
      outcome: row.outcome,
      hold: own(holds)[0] ?? null,
      checkout: own(checkouts)[0] ?? null,
      repeats: own(repeats)[0] ?? null,
      attempts: tried.map(({ settlementStatus }) => settlementStatus),
    } as StageFacts;
    return { stage: stageOf(facts, now), attempts: tried };
  };
}
