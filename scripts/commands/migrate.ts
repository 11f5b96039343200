/** `countersign-server migrate`: applies the missing migrations, for example before processes whose role may not. */
import { toldCauses } from "#lib/db/failure.ts";
import { migrate } from "#lib/db/migrate.ts";
import { refuseServer } from "#lib/db/refuse-server.ts";
import { env } from "#lib/env.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";

const say = (line: string): void => console.error(`countersign: ${line}`);

try {
  await provideSecrets(process.env);
  const { DATABASE_URL, ENVIRONMENT } = env();
  if (DATABASE_URL === undefined) throw new Error("Set DATABASE_URL. The embedded database is migrated when the service starts.");
  await refuseServer(DATABASE_URL);
  const applied = await migrate({ url: DATABASE_URL, environment: ENVIRONMENT });
  say(`Applied ${applied} ${applied === 1 ? "migration" : "migrations"}.`);
} catch (error) {
  say(toldCauses(error));
  process.exitCode = 1;
}
