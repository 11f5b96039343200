import { onPrimary, watchHosts } from "#lib/db/client.ts";
import { noteFewStandbys } from "#lib/alerts/note-operations.ts";
import { watchReplication } from "#lib/health/replication.ts";
import { log } from "#lib/telemetry/log.ts";
import { perProcess } from "#lib/process.ts";

type Told = { said: string };

/** Without any standby in sync, no alert can be saved. */
async function watchStandbys(): Promise<void> {
  const short = await watchReplication();
  if (short?.inSync) await noteFewStandbys(short.names, short.inSync);
}

/** Only one host may be a primary: what another one takes is lost when it follows the real one. */
async function watchOthers(): Promise<void> {
  const others = (await watchHosts()).filter(({ is }) => is !== "standby" && is !== "away");
  const told = perProcess<Told>("server/watch-database", () => ({ said: "" }));
  const now = others.map(({ name, is }) => `${name}: ${is}`).join(", ");
  if (now !== told.said && now !== "") log().error(`More than one host of DATABASE_URL takes writes. ${now}`);
  told.said = now;
}

export async function watchDatabase(): Promise<void> {
  await Promise.all([watchOthers(), watchStandbys()]);
}

export const logPrimaries = (): void => onPrimary(({ message, cause }) => log().warn({ error: cause }, message));
