/**
 * `npm run faults`: runs two servers under load while the database, the chain, the network and the servers fail. `-- --count N` sets the
 * number of faults (300), `--connections N` the number of clients (64), `--seed N` the choice and the order of the
 * faults.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "300" },
    connections: { type: "string", default: "64" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});

const child = spawn("vitest", ["run", "test/faults"], {
  cwd: join(import.meta.dirname, ".."),
  stdio: "inherit",
  env: { ...process.env, FAULTS: values.count, FAULT_CONNECTIONS: values.connections, FAULT_SEED: values.seed },
});
child.once("exit", (code) => process.exit(code ?? 1));
