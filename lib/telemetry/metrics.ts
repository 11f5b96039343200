import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { perProcess } from "#lib/process.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function relayMetrics(registers: [Registry]) {
  return {
    relayed: new Counter({
      name: "countersign_relayed_transactions_total",
      help: "Transactions that the service relayed, by their outcome.",
      labelNames: ["purpose", "status"] as const,
      registers,
    }),
    relayerGas: new Counter({
      name: "countersign_relayer_gas_wei_total",
      help: "What relayer and guardian paid for gas.",
      labelNames: ["chain", "key"] as const,
      registers,
    }),
    relayerBalance: new Gauge({
      name: "countersign_relayer_balance_wei",
      help: "What relayer and guardian have left for gas.",
      labelNames: ["chain", "key"] as const,
      registers,
    }),
    relayerLowBalance: new Gauge({
      name: "countersign_relayer_low_balance_wei",
      help: "The balance below which the alarm is raised.",
      registers,
    }),
    relayOpen: new Gauge({
      name: "countersign_relay_open",
      help: "Transactions that are not mined yet.",
      labelNames: ["chain", "key", "status"] as const,
      registers,
    }),
    relayOldest: new Gauge({
      name: "countersign_relay_oldest_seconds",
      help: "Age of the oldest transaction that is not mined yet.",
      labelNames: ["chain", "key"] as const,
      registers,
    }),
  };
}

function pageMetrics(registers: [Registry]) {
  return {
    pagesUp: new Gauge({ name: "countersign_pages_up", help: "Whether the process that renders the pages answers.", registers }),
    pagesRestarts: new Counter({
      name: "countersign_pages_restarts_total",
      help: "Starts of a new process for the pages, by how the process before it ended.",
      labelNames: ["reason"] as const,
      registers,
    }),
    pagesRefused: new Counter({
      name: "countersign_pages_refused_total",
      help: "Pages that were not rendered: too many for one address (429) or at once (503).",
      labelNames: ["status"] as const,
      registers,
    }),
  };
}

/** Those with labels have no value while it is not known. */
function databaseMetrics(registers: [Registry]) {
  return {
    databaseCommits: new Gauge({
      name: "countersign_database_commits",
      help: "Whether the database commits, as this process last saw.",
      registers,
    }),
    timeline: new Gauge({
      name: "countersign_database_timeline",
      help: "The timeline of the database. Each promotion of a standby begins a higher one.",
      labelNames: ["role"] as const,
      registers,
    }),
    standbyBehind: new Gauge({
      name: "countersign_database_standby_behind_bytes",
      help: "How much of the log a standby has not written to its disk yet.",
      labelNames: ["standby", "state", "sync_state"] as const,
      registers,
    }),
    standbysInSync: new Gauge({
      name: "countersign_database_standbys_in_sync",
      help: "Standbys that can confirm commits, if synchronous_standby_names is set. Fewer than two are an alarm.",
      labelNames: ["names"] as const,
      registers,
    }),
  };
}

function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers: [Registry] = [registry];
  return {
    registry,
    requests: new Histogram({
      name: "countersign_request_duration_seconds",
      help: "Time from request to reply, by operation and status.",
      labelNames: ["operation", "status"] as const,
      buckets: SECONDS,
      registers,
    }),
    queueDepth: new Gauge({ name: "countersign_authorize_queue_depth", help: "Requests that wait for a batch.", registers }),
    batchSize: new Histogram({
      name: "countersign_authorize_list_size",
      help: "Requests that were decided in one transaction.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    executions: new Counter({
      name: "countersign_executions_total",
      help: "Executions by the settlement status that they reached.",
      labelNames: ["status"] as const,
      registers,
    }),
    settlementLag: new Histogram({
      name: "countersign_settlement_lag_seconds",
      help: "Time from an execution's creation to its settlement.",
      buckets: [1, 2, 5, 10, 30, 60, 120, 300, 900, 3600],
      registers,
    }),
    settlementWaiting: new Gauge({
      name: "countersign_settlement_waiting_seconds",
      help: "How long the oldest settlement that was sent waits for a block, or nothing could be sent at all.",
      labelNames: ["chain"] as const,
      registers,
    }),
    ...relayMetrics(registers),
    chainUp: new Gauge({
      name: "countersign_chain_up",
      help: "Whether the RPC of a chain answered when readiness was last asked for.",
      labelNames: ["chain"] as const,
      registers,
    }),
    ...pageMetrics(registers),
    ...databaseMetrics(registers),
    failures: new Counter({
      name: "countersign_failures_total",
      help: "Requests that failed with 5xx for a reason in the database or in the code, by SQLSTATE.",
      labelNames: ["sqlstate"] as const,
      registers,
    }),
    auditAlarms: new Gauge({
      name: "countersign_audit_alarms",
      help: "Audit chains that do not go on from what was signed of them: somebody changed the database.",
      registers,
    }),
    auditEvents: new Counter({ name: "countersign_audit_events_total", help: "Audit events written.", registers }),
  };
}

export const metrics = () => perProcess("telemetry/metrics metrics", createMetrics);

type Observer = { observe(seconds: number): void };

/** Looked up once per pair of operation and status, because prom-client otherwise hashes the labels on each call. */
const observers = (): Map<string, Observer[]> => perProcess("telemetry/metrics requests", () => new Map());

const answered = (): { count: number } => perProcess("telemetry/metrics answeredRequests", () => ({ count: 0 }));

export const answeredRequests = (): number => answered().count;

export function observeRequest(operationId: string, status: number, milliseconds: number): void {
  answered().count += 1;
  const known = observers();
  let byStatus = known.get(operationId);
  if (!byStatus) known.set(operationId, (byStatus = []));
  const observer = (byStatus[status] ??= metrics().requests.labels(operationId, String(status)));
  observer.observe(milliseconds / 1000);
}
