/**
 * `npm run drill`: two processes of the service under load on a PostgreSQL with two standbys. In an order of its own, each seed loses the
 * primary, one standby and both, lets the old primary come back, and checks every promise. `-- --count N` sets the number of seeds (20),
 * `--seed N` the first one. `--patroni` lets Debian's Patroni decide on machines of a network of their own (3 seeds), as root.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drill, partsOf, type Times } from "./drill/drill.ts";
import { EmbeddedNodes } from "./drill/embedded-nodes.ts";
import { PatroniNodes } from "./drill/patroni-nodes.ts";

const { values } = parseArgs({
  options: { count: { type: "string" }, seed: { type: "string", default: "1" }, patroni: { type: "boolean", default: false } },
});
/**
 * The promises about time: without an acknowledged payment after a promotion, and for a revocation without one standby. Patroni 3 lets
 * commits wait for one named standby, and until it names the other one.
 */
const most: Partial<Record<keyof Times, number>> = { gapMs: 3_000, ...(values.patroni ? {} : { revokedMs: 2_000 }) };
const first = Number(values.seed);
const count = Number(values.count ?? (values.patroni ? 3 : 20));

const say = (sentence: string): void => console.log(sentence);
const closers: (() => Promise<void>)[] = [];
const closing = (close: () => Promise<void>): void => void closers.push(close);

async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
}

const interrupted = new Promise<number>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(130));
});

async function play(seed: number): Promise<Times> {
  const parts = partsOf(seed);
  say(`Seed ${seed}: ${parts.map(({ lost, way, soon }) => `${lost} ${way}${soon ? " and soon back" : ""}`).join(", ")}.`);
  const folder = await mkdtemp(join(tmpdir(), "countersign-drill-"));
  closing(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const making = (values.patroni ? PatroniNodes : EmbeddedNodes).make(folder);
  closing(async () => (await making.catch(() => null))?.close());
  const times = await drill(parts, { nodes: await making, folder, say, closing });
  for (const [name, limit] of Object.entries(most)) {
    const took = times[name as keyof Times] ?? 0;
    if (took > limit) throw new Error(`${name} is ${Math.round(took)} and must be at most ${limit}.`);
  }
  return times;
}

async function run(): Promise<number> {
  const rows: Record<string, number | string>[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const times = await play(seed).catch((error: Error) => {
      console.error(error);
      return null;
    });
    await closeAll();
    rows.push({
      seed,
      ...(times ? Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.round(ms)])) : { failed: "yes" }),
    });
  }
  console.table(rows);
  const failed = rows.filter((row) => "failed" in row);
  say(failed.length === 0 ? "Every promise was kept." : `${failed.length} of ${count} failed.`);
  return failed.length === 0 ? 0 : 1;
}

const code = await Promise.race([run(), interrupted]);
await closeAll();
process.exit(code);
