/** `countersign-server setup-code`: replaces the code for the first platform admin, if it was lost. */
import { closePools } from "#lib/db/client.ts";
import { sqlState, toldCauses } from "#lib/db/failure.ts";
import { env } from "#lib/env.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";
import { issueSetupCode } from "#lib/installation/setup-code.ts";
import { commandFor } from "#lib/process.ts";

const UNDEFINED_TABLE = "42P01";

const say = (line: string): void => console.error(`countersign: ${line}`);

try {
  await provideSecrets(process.env);
  if (env().DATABASE_URL === undefined) throw new Error("Set DATABASE_URL to the database of the installation.");
  const code = await issueSetupCode({ replaces: true });
  if (code === null) throw new Error("A code exists only in production, until the platform has its first admin.");
  console.log(code);
} catch (error) {
  say(
    sqlState(error) === UNDEFINED_TABLE
      ? `The database has no tables yet. Run "${commandFor("migrate")}" first.`
      : toldCauses(error),
  );
  process.exitCode = 1;
} finally {
  await closePools();
}
