import { selectAlarms } from "#lib/audit/checkpoint-store.ts";
import { clock } from "#lib/audit/store.ts";
import { database, watchHosts } from "#lib/db/client.ts";
import { processHealth } from "#lib/health/process-health.ts";
import { readReplication, tooFewInSync, type Replication } from "#lib/health/replication.ts";
import { atomicOf, formatAmount } from "#lib/money.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { openBySender } from "#lib/onchain/relay-store.ts";
import type { Sender } from "#lib/onchain/senders.ts";
import { countOverdueHolds } from "#lib/holds/sweep-store.ts";
import { countOpen, selectUnknown, settlementLag } from "#lib/platform/health-store.ts";
import { selectRuns } from "#lib/installation/worker-run-store.ts";
import { toWire } from "#lib/time.ts";
import { SettlementStatus } from "#lib/vocabulary.ts";

const UNKNOWN = 50;
const ALARMS = 50;
const AMONG = 1_000;

export type HealthView = Awaited<ReturnType<typeof viewHealth>>;

type Open = Awaited<ReturnType<typeof openBySender>>[number];

/** In ether with at most six decimals; further decimals are cut off. */
const etherOf = (wei: bigint): string => formatAmount(atomicOf(wei / 10n ** 12n), 6);

function senderLine({ chain, key, address, balance, low }: Sender, open: readonly Open[]) {
  const waiting = open.find((one) => one.chain === chain && one.key === key);
  return {
    chain,
    key,
    address,
    balance: balance === null ? null : etherOf(balance),
    low,
    open: Number(waiting?.queued ?? 0) + Number(waiting?.sent ?? 0),
    oldest: waiting?.oldest ? toWire(waiting.oldest) : null,
    reason: waiting?.reason ?? null,
  };
}
export type SenderLine = ReturnType<typeof senderLine>;

const figures = new Intl.NumberFormat("en-GB");

/** In kibibytes up to 10 MiB, and in mebibytes above. */
const bytesText = (bytes: number): string => {
  const kibibytes = Math.ceil(bytes / 1024);
  return kibibytes <= 10_240 ? `${figures.format(kibibytes)} KiB` : `${figures.format(Math.ceil(kibibytes / 1024))} MiB`;
};

function databaseLine({ standbys, ...replication }: Replication) {
  return {
    ...replication,
    isShort: tooFewInSync(replication),
    standbys: standbys && standbys.map(({ bytesBehind, ...standby }) => ({ ...standby, behind: bytesText(bytesBehind) })),
  };
}
export type DatabaseLine = ReturnType<typeof databaseLine>;

export async function viewHealth() {
  const [
    now,
    { findings: probes, waiting, senders },
    open,
    unknown,
    lag,
    overdueHolds,
    runs,
    relays,
    alarms,
    replication,
    others,
  ] = await Promise.all([
    clock(database()),
    processHealth(),
    countOpen(),
    selectUnknown(UNKNOWN),
    settlementLag(AMONG),
    countOverdueHolds(database()),
    selectRuns(),
    openBySender(),
    selectAlarms(ALARMS),
    readReplication().catch(() => null),
    watchHosts(),
  ]);
  return {
    now: toWire(now),
    probes,
    database: replication && databaseLine(replication),
    others,
    waiting,
    open: open.map(({ status, count, oldest, overdue }) => ({
      status: SettlementStatus.parse(status),
      count,
      oldest: oldest && toWire(oldest),
      overdue: Number(overdue),
    })),
    overdueHolds,
    auditAlarms: alarms.map(({ raisedAt, ...alarm }) => ({ ...alarm, raisedAt: toWire(raisedAt) })),
    senders: senders.map((sender) => senderLine(sender, relays)),
    lag,
    unknown: unknown.map(({ amount, asset, chain, nextCheckAt, validBefore, createdAt, ...row }) => ({
      ...row,
      asset,
      amount: formatAmount(amount, assetOf(chain, asset)?.tokenDecimals ?? 0),
      nextCheckAt: nextCheckAt && toWire(nextCheckAt),
      validBefore: validBefore && toWire(validBefore),
      createdAt: toWire(createdAt),
    })),
    runs: runs.map(({ worker, ranAt, succeededAt, failedAt }) => ({
      worker,
      ranAt: toWire(ranAt),
      failing: failedAt !== null && (succeededAt === null || failedAt > succeededAt),
      succeededAt: succeededAt && toWire(succeededAt),
    })),
  };
}
export type HostLine = HealthView["others"][number];
export type UnknownLine = HealthView["unknown"][number];
export type AlarmLine = HealthView["auditAlarms"][number];
