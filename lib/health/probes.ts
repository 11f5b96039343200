import { batchPool, mainPool, urgentPool, watchPool } from "#lib/db/client.ts";
import { schemaIsCurrent } from "#lib/db/migrate.ts";
import type { Pool } from "#lib/db/pool.ts";
import { env } from "#lib/env.ts";
import { commitFault } from "#lib/health/commits.ts";
import { pagesUp } from "#lib/health/lifecycle.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { newestBlock } from "#lib/chains/client.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";
import { bounds } from "#lib/payments/queue.ts";
import { perProcess } from "#lib/process.ts";
import { noSettlementIsStuck } from "#lib/settlement/watch-settlements.ts";
import { atMost } from "#lib/time.ts";
import { secretsAreReadable } from "#lib/webhooks/reseal-secrets.ts";

/** `degraded` and not `failing` if the service can still authorize, approve and revoke. */
export type Finding = {
  readonly name:
    | "database"
    | "authorizations"
    | "emergencies"
    | "commits"
    | "migrations"
    | "queue"
    | "chains"
    | "settlements"
    | "webhooks"
    | "pages";
  readonly status: "ready" | "degraded" | "failing";
  /** Why nothing can be committed, as the end of a sentence. */
  readonly because?: string | null;
};

const PATIENCE_MS = 2_000;
/** Anyone may ask for readiness, so frequent requests must cause no load. */
const FRESH_MS = 1_000;
/** At this depth, organizations with waiting payments get 503, and half of the places kept for the others are taken. */
const QUEUE_READY = bounds.queued.most - bounds.queued.kept / 2;

const within = async (probe: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await atMost(probe(), PATIENCE_MS, false);
  } catch {
    return false;
  }
};

const answers = async (pool: Pool): Promise<boolean> => (await pool.sql`SELECT 1`).length === 1;

async function chainAnswers(chain: string): Promise<boolean> {
  const up = await within(async () => (await newestBlock(chain)) >= 0n);
  metrics().chainUp.set({ chain }, up ? 1 : 0);
  return up;
}

const required = (name: Finding["name"], ready: boolean): Finding => ({ name, status: ready ? "ready" : "failing" });

async function probe(): Promise<readonly Finding[]> {
  const [database, authorizations, emergencies, migrations, chains, settlements, webhooks] = await Promise.all([
    within(() => answers(mainPool())),
    within(() => answers(batchPool())),
    within(() => answers(urgentPool())),
    // The connections of the other pools may all wait for COMMIT, and pages are ready if reading works.
    within(() => schemaIsCurrent(watchPool().sql)),
    Promise.all(env().CHAINS.map(({ chain }) => chainAnswers(chain))),
    within(() => noSettlementIsStuck()),
    within(() => secretsAreReadable()),
  ]);
  const pages = pagesUp();
  return [
    required("database", database),
    required("authorizations", authorizations),
    required("emergencies", emergencies),
    required("migrations", migrations),
    required("queue", authorizeQueue().depth < QUEUE_READY),
    { name: "chains", status: chains.every(Boolean) ? "ready" : "degraded" },
    { name: "settlements", status: settlements ? "ready" : "degraded" },
    { name: "webhooks", status: webhooks ? "ready" : "degraded" },
    ...(pages === null ? [] : [{ name: "pages" as const, status: pages ? ("ready" as const) : ("degraded" as const) }]),
  ];
}

type CachedFindings = { at: number; findings: Promise<readonly Finding[]> | null };

/** `commits` is not kept, because it costs nothing while payments are made, and must be noticed soon. */
export async function probeService(): Promise<readonly Finding[]> {
  const kept = perProcess<CachedFindings>("health/probes", () => ({ at: 0, findings: null }));
  const now = performance.now();
  if (!kept.findings || now - kept.at > FRESH_MS) {
    kept.at = now;
    kept.findings = probe();
  }
  const [others, fault] = await Promise.all([kept.findings, commitFault()]);
  const findings = others.toSpliced(3, 0, { ...required("commits", fault === null), ...fault });
  noteChange(findings);
  return findings;
}

/** Load balancers ask often, so only changes are logged. */
function noteChange(findings: readonly Finding[]): void {
  const told = perProcess("health/probes told", () => ({ failing: "" }));
  const bad = findings.filter(({ status }) => status === "failing");
  const failing = bad.map(({ name }) => name).join(", ");
  if (failing === told.failing) return;
  told.failing = failing;
  if (failing === "") log().info("The service is ready again");
  else log().warn({ failing, because: bad.find(({ because }) => because)?.because }, "The service is not ready");
}
