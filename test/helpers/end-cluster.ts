/** Stops the PostgreSQL (process PID) in a data directory after the run that started it has been killed, unless others use it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startEmbedded } from "#lib/db/embedded.ts";

const [dataDir = "", pid = ""] = process.argv.slice(2);
// If the run has removed its files, no other run can use them.
if (!existsSync(join(dataDir, "postgres"))) process.kill(Number(pid), "SIGQUIT");
else await (await startEmbedded({ dataDir, durable: false })).stop();
