import { deleteOldCommits } from "#lib/health/commit-store.ts";
import { commitFault } from "#lib/health/commits.ts";
import { selectRole, selectStandbys, type Standby } from "#lib/health/replication-store.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { perProcess } from "#lib/process.ts";

export type Replication = {
  readonly role: "primary" | "standby";
  readonly timeline: number | null;
  /** The setting synchronous_standby_names: for which standbys commits wait. Empty if they wait for none. */
  readonly names: string;
  /** Null if the role of DATABASE_URL may not see them. */
  readonly standbys: readonly Standby[] | null;
  /** The standbys that can confirm commits. Null if commits wait for none, or the standbys cannot be seen. */
  readonly inSync: number | null;
};

/** Fewer are an alarm: if commits wait for a standby and the last one is lost, nothing can be saved, and no mandate revoked. */
const ENOUGH = 2;
/** A standby that is started again is no reason to write to people. */
const TELL_AFTER_MS = 60_000;

/** A potential standby takes the place of one that is lost. */
const confirms = ({ state, syncState }: Standby): boolean =>
  state === "streaming" && ["sync", "quorum", "potential"].includes(syncState);

export async function readReplication(): Promise<Replication> {
  const { standby, timeline, names, visible } = await selectRole();
  const standbys = visible && !standby ? await selectStandbys() : null;
  return {
    role: standby ? "standby" : "primary",
    timeline: timeline === null ? null : Number.parseInt(timeline, 16),
    names,
    standbys,
    inSync: standbys === null || names.trim() === "" ? null : standbys.filter(confirms).length,
  };
}

export const tooFewInSync = ({ inSync }: Pick<Replication, "inSync">): boolean => inSync !== null && inSync < ENOUGH;

/** What is not known has no value, so that nobody takes it for a good one. */
function measure(seen: Replication | null): void {
  const { timeline, standbyBehind, standbysInSync } = metrics();
  for (const gauge of [timeline, standbyBehind, standbysInSync]) gauge.reset();
  if (seen === null) return;
  if (seen.timeline !== null) timeline.set({ role: seen.role }, seen.timeline);
  for (const { name, state, syncState, bytesBehind } of seen.standbys ?? [])
    standbyBehind.set({ standby: name, state, sync_state: syncState }, bytesBehind);
  if (seen.inSync !== null) standbysInSync.set({ names: seen.names }, seen.inSync);
}

type Shortage = { since: number | null };

/** Sets the metrics. Returns what is seen if too few standbys have been in sync for a minute, and else null. */
export async function watchReplication(): Promise<Replication | null> {
  await commitFault();
  const seen = await readReplication().catch(() => null);
  measure(seen);
  const shortage = perProcess<Shortage>("health/replication", () => ({ since: null }));
  const { names, inSync } = seen ?? {};
  if (!seen || !tooFewInSync(seen)) {
    if (seen && shortage.since !== null) log().info({ names, inSync }, "Enough standbys are in sync again");
    if (seen) shortage.since = null;
    return null;
  }
  if (shortage.since === null) log().error({ names, inSync }, "Fewer than two standbys are in sync");
  shortage.since ??= performance.now();
  return performance.now() - shortage.since > TELL_AFTER_MS ? seen : null;
}

/** A process that has ended writes its row no more. */
export const forgetOldCommits = (): Promise<number> => deleteOldCommits();
