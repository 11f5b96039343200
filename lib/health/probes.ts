import { pool } from "#lib/db/client.ts";
import { schemaIsCurrent } from "#lib/db/migrate.ts";
import { env } from "#lib/env.ts";
import { newestBlock } from "#lib/onchain/client.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";
import { perProcess } from "#lib/process.ts";

export type Finding = { readonly name: "database" | "migrations" | "chains" | "queue"; readonly ready: boolean };

const PATIENCE_MS = 2_000;
/** Anyone may ask, so the answer is kept for a moment: asking often costs the database and the chains nothing. */
const FRESH_MS = 1_000;
/** Of 4,096 places; a process this full answers 503 to part of what it gets. */
const QUEUE_READY = 3_072;

const within = async (probe: () => Promise<boolean>): Promise<boolean> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, false);
  });
  try {
    return await Promise.race([probe(), patience]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
};

const databaseAnswers = async (): Promise<boolean> => (await pool()`SELECT 1`).length === 1;

const chainsAnswer = async (): Promise<boolean> => {
  const blocks = await Promise.all(env().CHAINS.map(({ chain }) => newestBlock(chain)));
  return blocks.every((block) => block >= 0n);
};

async function probe(): Promise<readonly Finding[]> {
  const [database, migrations, chains] = await Promise.all([
    within(databaseAnswers),
    within(() => schemaIsCurrent()),
    within(chainsAnswer),
  ]);
  return [
    { name: "database", ready: database },
    { name: "migrations", ready: migrations },
    { name: "chains", ready: chains },
    { name: "queue", ready: authorizeQueue().depth < QUEUE_READY },
  ];
}

type Kept = { at: number; findings: Promise<readonly Finding[]> | null };

/** What works right now, at most a second old. */
export function probeService(): Promise<readonly Finding[]> {
  const kept = perProcess<Kept>("probes", () => ({ at: 0, findings: null }));
  const now = performance.now();
  if (!kept.findings || now - kept.at > FRESH_MS) {
    kept.at = now;
    kept.findings = probe();
  }
  return kept.findings;
}
