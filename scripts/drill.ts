/**
 * `npm run drill`: two processes of the service under load on a PostgreSQL with two standbys. In an order of its own, each seed loses the
 * primary, one standby and both, lets the old primary come back, and checks every promise. `-- --count N` sets the number of seeds (20),
 * `--seed N` the first one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drill, partsOf, type Times } from "./drill/drill.ts";
import { EmbeddedNodes } from "./drill/embedded-nodes.ts";

/** The promises about time: without an acknowledged payment after a promotion, and for a revocation without one standby. */
const MOST = { gapMs: 3_000, revokedMs: 2_000 };
const { values } = parseArgs({ options: { count: { type: "string", default: "20" }, seed: { type: "string", default: "1" } } });

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
  const making = EmbeddedNodes.make(folder);
  closing(async () => (await making.catch(() => null))?.close());
  const times = await drill(parts, { nodes: await making, folder, say, closing });
  for (const [name, most] of Object.entries(MOST)) {
    const took = times[name as keyof typeof MOST] ?? 0;
    if (took > most) throw new Error(`${name} is ${Math.round(took)} and must be at most ${most}.`);
  }
  return times;
}

async function run(): Promise<number> {
  const rows: Record<string, number | string>[] = [];
  const [first, count] = [Number(values.seed), Number(values.count)];
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
