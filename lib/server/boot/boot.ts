import { closePools } from "#lib/db/client.ts";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { refuseServer } from "#lib/db/refuse-server.ts";
import { env, type Env } from "#lib/env.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";
import { forget } from "#lib/process.ts";
import type { Steps } from "#lib/server/boot/start-steps.ts";

export type BootHandle = { readonly env: Env; close(): Promise<void> };

export async function boot(say: (line: string) => void, steps: Steps): Promise<BootHandle> {
  await provideSecrets(process.env);
  const { DATABASE_URL, DATA_DIR, ENVIRONMENT } = env();
  const embedded = DATABASE_URL ? null : await startEmbedded({ dataDir: DATA_DIR });
  if (embedded) {
    say(`PostgreSQL 18 is embedded; its data is in ${embedded.directory} (${embedded.startedMs} ms).`);
    process.env["DATABASE_URL"] = embedded.url;
    forget("env");
  }
  const close = async (): Promise<void> => {
    await closePools();
    await embedded?.stop();
  };
  try {
    if (!embedded) await steps(() => refuseServer(env().DATABASE_URL ?? ""));
    const applied = await steps(() => migrate({ url: env().DATABASE_URL ?? "", environment: ENVIRONMENT }));
    if (applied > 0) say(`Applied ${applied} ${applied === 1 ? "migration" : "migrations"}.`);
  } catch (error) {
    await close();
    throw error;
  }
  return { env: env(), close };
}
