/** `countersign-server restored`: accepts that the audit log is older than what was signed of it, after a backup was restored. */
import { acceptOlder, olderLogs } from "#lib/audit/restored.ts";
import { closePools } from "#lib/db/client.ts";
import { toldCauses } from "#lib/db/failure.ts";
import { refuseRunning } from "#lib/db/refuse-running.ts";
import { env } from "#lib/env.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";
import { commandFor, isPackaged } from "#lib/process.ts";

const say = (line: string): void => console.error(`countersign: ${line}`);

try {
  await provideSecrets(process.env);
  const { DATABASE_URL } = env();
  if (DATABASE_URL === undefined) throw new Error("Set DATABASE_URL to the database that you restored.");
  await refuseRunning(DATABASE_URL);
  const older = await olderLogs();
  for (const { chain, stored, signed, detail } of older)
    say(`${chain} has ${stored} events in the database, and ${signed} were signed. ${detail}`);
  if (older.length === 0) say("The audit log continues from what was signed of it. There is nothing to accept.");
  else if (process.argv.includes("--yes")) {
    await acceptOlder(older);
    say("Accepted. The log of the platform has an event about it. Start the service.");
  } else {
    say("Only a restored backup explains this. If you restored none, somebody changed the database: keep it as evidence.");
    const command = `${commandFor("restored")}${isPackaged() ? "" : " --"} --yes`;
    throw new Error(`To go on with what the database has, run "${command}".`);
  }
} catch (error) {
  say(toldCauses(error));
  process.exitCode = 1;
} finally {
  await closePools();
}
