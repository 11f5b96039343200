import { lastCommits } from "#lib/db/client.ts";
import { notPrimary, sqlState } from "#lib/db/failure.ts";
import { databaseHosts, env } from "#lib/env.ts";
import { commitOwnRow, waitsForStandby } from "#lib/health/commit-store.ts";
import { perProcess } from "#lib/process.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { atMost } from "#lib/time.ts";

/** Why nothing can be committed, as the end of a sentence; null if the server does not even answer reads. */
export type CommitFault = { readonly because: string | null };

/** Without a commit for this long, the process tries one. */
const FRESH_MS = 5_000;
const PAUSE_MS = 1_000;
const PATIENCE_MS = 2_000;

const unanswered: CommitFault = { because: "the database does not answer COMMIT" };
const refusals: Readonly<Record<string, string>> = {
  "25006": "the database is read-only",
  "53100": "the disk of the database is full",
};

const others = { standby: "a standby", "old primary": "an old primary", "other installation": "another installation" } as const;

type Trial = { underWay: Promise<void> | null; endedAt: number; provenAt: number; fault: CommitFault };

const trial = () =>
  perProcess<Trial>("health/commits", () => ({ underWay: null, endedAt: -Infinity, provenAt: -Infinity, fault: unanswered }));

async function faultOf(error: unknown): Promise<CommitFault> {
  const is = notPrimary(error)?.is;
  if (is === "standby" && databaseHosts(env().DATABASE_URL ?? "").length > 1)
    return { because: "no host of DATABASE_URL is a primary. Promote a standby" };
  if (is !== undefined) return { because: `DATABASE_URL leads to ${others[is]}` };
  const code = sqlState(error) ?? "";
  const because = refusals[code];
  if (because !== undefined) return { because };
  if (/^\d[\dA-Z]{4}$/.test(code)) return { because: `a write fails with SQLSTATE ${code}` };
  const waits = await waitsForStandby().catch(() => null);
  if (waits === null) return { because: null };
  return waits ? { because: "no standby that synchronous_standby_names counts answers, so COMMIT waits" } : unanswered;
}

async function tryCommit(): Promise<void> {
  const kept = trial();
  try {
    await commitOwnRow();
    kept.provenAt = performance.now();
    kept.fault = unanswered;
  } catch (error) {
    kept.fault = await faultOf(error);
  } finally {
    kept.underWay = null;
    kept.endedAt = performance.now();
  }
}

/** A refusal counts until a trial succeeds, because small commits can succeed on a full disk. */
function commits(): boolean {
  const { committedAt, refusedAt } = lastCommits();
  const { provenAt } = trial();
  const now = performance.now();
  return now - provenAt < PAUSE_MS || (now - committedAt < FRESH_MS && refusedAt <= provenAt);
}

/** Null if this process has committed something lately. Else it tries that; at most one trial is under way. */
export async function commitFault(): Promise<CommitFault | null> {
  const kept = trial();
  if (!commits()) {
    if (performance.now() - kept.endedAt > PAUSE_MS) kept.underWay ??= tryCommit();
    if (kept.underWay) await atMost(kept.underWay, PATIENCE_MS, undefined);
  }
  const fault = commits() ? null : kept.fault;
  metrics().databaseCommits.set(fault ? 0 : 1);
  return fault;
}
