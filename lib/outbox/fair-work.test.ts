import { expect, test } from "vitest";
import { provenHosts, workFairly } from "#lib/outbox/fair-work.ts";

type Row = { readonly id: string; readonly owner: string; readonly host: string };

/** Works on the rows; those of the host `slow` end only after all others have. Returns the order of their ends. */
async function run(rows: readonly Row[], placesOf: (host: string) => number = () => 4) {
  const waiting = [...rows];
  const done: string[] = [];
  const running: Row[] = [];
  const most = { owner: 0, host: 0 };
  const others = rows.filter(({ host }) => !host.startsWith("slow")).length;
  const released = Promise.withResolvers<null>();
  const release = () => done.length >= others && released.resolve(null);
  release();
  const tried = await workFairly<Row>({
    atOnce: 8,
    each: 3,
    batch: 100,
    keysOf: (row) => row,
    placesOf,
    lease: ({ owners, hosts }) => {
      const at = waiting.findIndex(({ owner, host }) => !owners.includes(owner) && !hosts.includes(host));
      return Promise.resolve(at < 0 ? null : (waiting.splice(at, 1)[0] ?? null));
    },
    work: async (row) => {
      running.push(row);
      for (const key of ["owner", "host"] as const)
        most[key] = Math.max(most[key], running.filter((one) => one[key] === row[key]).length);
      if (row.host.startsWith("slow")) await released.promise;
      else await new Promise(setImmediate);
      running.splice(running.indexOf(row), 1);
      done.push(row.id);
      release();
    },
  });
  return { tried, done, most };
}

const rowsOf = (count: number, owner: string, host: (at: number) => string): Row[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${owner} ${at}`, owner, host: host(at) }));

test("slow hosts of one owner delay nobody else, although they came first", async () => {
  const slow = rowsOf(10, "one person", (at) => `slow${at}`);
  const { tried, done, most } = await run([...slow, ...rowsOf(10, "another", () => "fast"), ...rowsOf(1, "third", () => "push")]);
  expect(tried).toBe(21);
  expect(done.slice(0, 11).every((id) => !id.startsWith("one person"))).toBe(true);
  expect(most.owner).toBe(3);
});

test("a host has one row under way until it has answered, and each row is worked on once", async () => {
  const hosts = provenHosts(3);
  const rows = rowsOf(6, "a", () => "fast");
  expect((await run(rows, hosts.placesOf)).most.host).toBe(1);
  hosts.note("fast", true);
  const again = await run(rows, hosts.placesOf);
  expect(again.most.host).toBe(3);
  expect(new Set(again.done).size).toBe(6);
  hosts.note("fast", false);
  expect((await run(rows, hosts.placesOf)).most.host).toBe(1);
});

test("a lease or a row that fails ends the call with its error, and leaves no worker behind", async () => {
  const failing = (lease: () => Promise<Row | null>, work: () => Promise<void>) =>
    workFairly<Row>({ atOnce: 2, each: 2, batch: 4, lease, keysOf: (row) => row, placesOf: () => 1, work });
  await expect(
    failing(
      () => Promise.reject(new Error("lost")),
      () => Promise.resolve(),
    ),
  ).rejects.toThrow("lost");
  const [row] = rowsOf(1, "a", () => "fast");
  await expect(
    failing(
      () => Promise.resolve(row ?? null),
      () => Promise.reject(new Error("broken")),
    ),
  ).rejects.toThrow("broken");
});
