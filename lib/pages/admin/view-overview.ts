import { countChains } from "#lib/audit/checkpoint-store.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { countUnverified } from "#lib/platform/directory-store.ts";
import { countOpen } from "#lib/platform/health-store.ts";
import { viewAuditLog } from "#lib/pages/admin/view-platform-audit.ts";
import { selectRuns } from "#lib/installation/worker-run-store.ts";

const SELLERS_MAX = 100;
const EVENTS = 8;

export type OverviewView = Awaited<ReturnType<typeof viewOverview>>;

/** A part is null if the reader's role may not see it. */
export async function viewOverview({ platformCapabilities: may, environment }: SessionCaller) {
  const watches = may.has("platform.audit.read") || may.has("platform.emergency.revoke");
  const [toVerify, open, runs, chains, log] = await Promise.all([
    may.has("platform.sellers.verify") ? countUnverified(environment, SELLERS_MAX) : null,
    watches ? countOpen() : null,
    watches ? selectRuns() : null,
    may.has("platform.audit.read") ? countChains() : null,
    may.has("platform.audit.read") ? viewAuditLog({ limit: EVENTS, chain: "platform" }) : null,
  ]);
  const failing = runs?.filter(
    ({ failedAt, succeededAt }) => failedAt !== null && (succeededAt === null || failedAt > succeededAt),
  );
  return {
    toVerify: toVerify !== null && toVerify >= SELLERS_MAX ? `${SELLERS_MAX} or more` : (toVerify?.toString() ?? null),
    unknown: open && (open.find(({ status }) => status === "unknown")?.count ?? 0),
    underWay: open && open.reduce((sum, { count }) => sum + count, 0),
    failingWorkers: failing?.length ?? null,
    chains,
    events: log?.items ?? null,
  };
}
