/** `countersign-server migrate`: applies the missing migrations, for example before processes whose role may not. */
import { toldCauses } from "#lib/db/failure.ts";
import { migrate } from "#lib/db/migrate.ts";
import { refuseServer } from "#lib/db/refuse-server.ts";

const say = (line: string): void => console.error(`countersign: ${line}`);

try {
  // The other settings are those of the service, and whoever owns the tables need not know its secrets.
  const { DATABASE_URL, ENVIRONMENT } = process.env;
  if (!DATABASE_URL) throw new Error("Set DATABASE_URL. The embedded database is migrated when the service starts.");
  if (ENVIRONMENT !== "production" && ENVIRONMENT !== "sandbox")
    throw new Error("Set ENVIRONMENT to production or sandbox. A new database belongs to it for good.");
  await refuseServer(DATABASE_URL);
  const applied = await migrate({ url: DATABASE_URL, environment: ENVIRONMENT });
  say(`Applied ${applied} ${applied === 1 ? "migration" : "migrations"}.`);
} catch (error) {
  say(toldCauses(error));
  process.exitCode = 1;
}
