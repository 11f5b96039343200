import { setTimeout as pause } from "node:timers/promises";
import { pool } from "#lib/db/client.ts";
import type { Installation, Node } from "./installation.ts";

type Random = () => number;

/** Causes a fault, and resolves after the fault has ended. */
type Fault = (on: Installation, random: Random) => Promise<void>;

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    if (pid > 0) process.kill(pid, name);
  } catch {
    // The process has already ended.
  }
};

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)]!;
const aWhile = (random: Random): Promise<void> => pause(300 + random() * 1_700);

/** Applies a fault to the database or chain connections of one server, or of both. */
const onLinks =
  (which: "database" | "rpc", begin: (link: Node["database"]) => void): Fault =>
  async ({ nodes }, random) => {
    const struck = random() < 0.5 ? nodes : [pick(nodes, random)];
    for (const node of struck) begin(node[which]);
    await aWhile(random);
    for (const node of struck) node[which].mend();
  };

const stopPostgres =
  (name: NodeJS.Signals): Fault =>
  async (on, random) => {
    const stopped = await on.postmasterPid();
    signal(stopped, name);
    await aWhile(random);
    // Wait until the code that runs the embedded PostgreSQL has started it again.
    for (const until = Date.now() + 20_000; Date.now() < until; await pause(50)) {
      const pid = await on.postmasterPid();
      if (pid > 0 && pid !== stopped) return;
    }
  };

const freeze = async (pids: readonly number[], random: Random): Promise<void> => {
  for (const pid of pids) signal(pid, "SIGSTOP");
  await aWhile(random);
  for (const pid of pids) signal(pid, "SIGCONT");
};

const backends = (statement: string): Promise<unknown> =>
  pool()
    .unsafe(`SELECT ${statement}(pid) FROM pg_stat_activity WHERE application_name = 'countersign' AND pid <> pg_backend_pid()`)
    .catch(() => {});

export const faults: Readonly<Record<string, Fault>> = {
  "terminate every backend": async () => void (await backends("pg_terminate_backend")),
  "cancel every statement, ten times": async () => {
    for (let times = 0; times < 10; times += 1) await Promise.all([backends("pg_cancel_backend"), pause(30)]);
  },
  "kill a backend": async (on, random) => {
    signal(pick(await on.backendPids(), random) ?? 0, "SIGKILL");
    await aWhile(random);
  },
  "restart PostgreSQL": stopPostgres("SIGINT"),
  "restart PostgreSQL at once": stopPostgres("SIGQUIT"),
  "kill PostgreSQL": stopPostgres("SIGKILL"),
  "freeze PostgreSQL": async (on, random) => freeze([await on.postmasterPid(), ...(await on.backendPids())], random),
  "reset the links to the database": onLinks("database", (link) => link.reset()),
  "cut the links to the database": onLinks("database", (link) => link.cut()),
  "freeze the links to the database": onLinks("database", (link) => link.freeze()),
  "leave the links to the database half-open": onLinks("database", (link) => link.leaveHalfOpen()),
  "slow the links to the database down": onLinks("database", (link) => link.delay(150)),
  "reset the links to the chain": onLinks("rpc", (link) => link.reset()),
  "cut the links to the chain": onLinks("rpc", (link) => link.cut()),
  "freeze the links to the chain": onLinks("rpc", (link) => link.freeze()),
  "leave the links to the chain half-open": onLinks("rpc", (link) => link.leaveHalfOpen()),
  "freeze the chain": async (on, random) => freeze([on.chain().pid], random),
  "restart the chain": async (on) => on.restartChain(),
  "drop the answer to a COMMIT": async ({ nodes }, random) => {
    const { database } = pick(nodes, random);
    await Promise.race([database.swallowAfter("COMMIT"), pause(5_000)]);
    await aWhile(random);
    database.mend();
  },
  "kill a server": async ({ nodes }, random) => pick(nodes, random).replace(),
  "freeze a server": async ({ nodes }, random) => freeze([pick(nodes, random).server.child.pid ?? 0], random),
};
