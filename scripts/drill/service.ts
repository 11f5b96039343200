import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { provideSecrets } from "#lib/installation/secrets.ts";
import { launch, start } from "../../bench/server.ts";
import type { Process } from "../load/check.ts";
import { nodeFlags } from "../node-flags.ts";

const program = [...nodeFlags, "server.ts", "--api"];

export type Place = {
  readonly databaseUrl: string;
  readonly baseUrl: string;
  readonly folder: string;
};

/** A process has a data folder of its own, as on a machine of its own. The secrets are those of all. */
async function environmentOf(name: string, { databaseUrl, baseUrl, folder }: Place): Promise<Record<string, string>> {
  const secrets: Record<string, string | undefined> = { DATA_DIR: join(folder, "secrets") };
  await provideSecrets(secrets);
  const dataDir = join(folder, name);
  await mkdir(dataDir, { recursive: true });
  return {
    ...(secrets as Record<string, string>),
    BASE_URL: baseUrl,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ENVIRONMENT: "sandbox",
    RATE_LIMIT_PER_ADDRESS: "1000000",
    RATE_LIMIT_PER_KEY: "1000000",
  };
}

export async function serve(name: string, place: Place): Promise<Process> {
  return { ...(await start(program, await environmentOf(name, place), "/api/v1/health/live")), version: name };
}

/** What a new process with the data folder of another says of a database that it does not serve. */
export async function refusalOf(name: string, place: Place): Promise<string> {
  const { child, said, stop } = await launch(program, await environmentOf(name, place));
  try {
    while (child.exitCode === null && !/\btimeline\b|ready in/.test(said())) await pause(50);
    return said();
  } finally {
    await stop();
  }
}
