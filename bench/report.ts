import type { Burst } from "./burst.ts";
import type { Gas } from "./gas.ts";
import type { CpuUse } from "./cpu.ts";
import type { Measurement } from "./load.ts";
import type { Outside } from "./outside.ts";
import type { PageLoad } from "./pages.ts";
import type { Streams } from "./streams.ts";

export type Row = Measurement & {
  readonly name: string;
  readonly connections: number;
  /** The CPU time and the bytes that each request used; absent for baselines and for the row named BESIDE. */
  readonly spent?: CpuUse;
};
export type Results = {
  readonly rows: readonly Row[];
  readonly residentMiB: number;
  readonly history: { readonly fresh: number; readonly old: number };
  readonly bursts: readonly Burst[];
  readonly gas: readonly Gas[];
  readonly pages: readonly PageLoad[];
  readonly outside: readonly Outside[];
  readonly streams: Streams;
};
export type Floor = { readonly what: string; readonly measured: string; readonly floor: string; readonly holds: boolean };

/** The name of the rows for the baseline that uses one transaction per request. */
export const EACH = "baseline: one transaction per request";
export const HOT = "hot mandate";
/** The name of the row of the service that was measured alternately with the baselines. */
export const BESIDE = "hot mandate, in turns with:";
export const DRIVER = "baseline: the driver alone";

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

/** The columns of the printed table for the CPU time and the write-ahead log of one request. */
const shownUse = ({ mainThread, otherThreads, postgres, client, walBytes }: CpuUse) => ({
  "main thread µs": Math.round(mainThread),
  "other threads µs": Math.round(otherThreads),
  "PostgreSQL µs": Math.round(postgres),
  "client µs": Math.round(client),
  "WAL bytes": Math.round(walBytes),
});

/** Returns the growth of the database's files for 1,000,000 authorizations, calculated from the row with the most requests. */
export function storageOf(rows: readonly Row[]): string {
  const [most] = rows.filter(({ spent }) => spent).toSorted((a, b) => b.requests - a.requests);
  return `${((most?.spent?.diskBytes ?? 0) / 1_000).toFixed(2)} GB`;
}

/** Compares the results of the API while visitors load pages with the limits that the project requires. */
export function floorsOutside([alone, ...flooded]: readonly Outside[]): Floor[] {
  const idleMs = alone?.p99Ms ?? 0;
  return flooded.flatMap(({ page, pageConnections, p99Ms, emergencyMs }) => {
    const beside = `with ${pageConnections} connections that load ${page}`;
    const times = p99Ms / idleMs;
    return [
      {
        what: `authorize p99 ${beside}`,
        measured: `${p99Ms.toFixed(1)} ms, ${times.toFixed(1)} times`,
        floor: "3 times",
        holds: times <= 3,
      },
      {
        what: `emergencyRevoke ${beside}`,
        measured: `${whole(emergencyMs)} ms`,
        floor: "under 2,000 ms",
        holds: emergencyMs < 2_000,
      },
    ];
  });
}

/** Compares the results while streams of changes are open with the limit that the project requires. */
const floorOfStreams = ({ streams, ratio }: Streams): Floor => ({
  what: `authorize with ${whole(streams)} open streams of changes`,
  measured: `${((1 - ratio) * 100).toFixed(1)} % slower`,
  floor: "under 10 %",
  holds: ratio > 0.9,
});

/** Compares all results with the limits that the project requires on two cores, with everything on the same machine. */
export function floorsOf({ rows, residentMiB, history, bursts, pages, outside, streams }: Omit<Results, "gas">): Floor[] {
  const row = (name: string, connections: number) => rows.find((one) => one.name === name && one.connections === connections)!;
  const hot = row(HOT, 64);
  const spread = row("1,000 mandates", 64);
  const idle = row(HOT, 1);
  const times = (baseline: string) => row(BESIDE, 64).perSecond / row(baseline, 64).perSecond;
  const fall = 1 - history.old / history.fresh;
  const exact = bursts.every(({ room, allowed, denied, errors }) => allowed === room && allowed + denied === 200 && errors === 0);
  const errors = rows.reduce((sum, one) => sum + one.errors, 0);
  return [
    {
      what: "hot mandate, 64 connections",
      measured: `${whole(hot.perSecond)}/s`,
      floor: "3,000/s",
      holds: hot.perSecond >= 3_000,
    },
    ...[EACH, DRIVER].map((baseline) => ({
      what: `hot mandate against ${baseline.replace("baseline: ", "")}`,
      measured: `${times(baseline).toFixed(1)} times`,
      floor: "2.5 times",
      holds: times(baseline) >= 2.5,
    })),
    { what: "hot mandate p99", measured: `${hot.p99Ms.toFixed(1)} ms`, floor: "under 80 ms", holds: hot.p99Ms < 80 },
    {
      what: "1,000 mandates, 64 connections",
      measured: `${whole(spread.perSecond)}/s`,
      floor: "2,500/s",
      holds: spread.perSecond >= 2_500,
    },
    { what: "idle p50", measured: `${idle.p50Ms.toFixed(1)} ms`, floor: "under 6 ms", holds: idle.p50Ms < 6 },
    { what: "resident memory", measured: `${whole(residentMiB)} MiB`, floor: "at most 400 MiB", holds: residentMiB <= 400 },
    { what: "20,000 earlier decisions", measured: `${(fall * 100).toFixed(1)} % slower`, floor: "under 10 %", holds: fall < 0.1 },
    { what: "bursts of 200", measured: exact ? "exact" : "not exact", floor: "exact, no error", holds: exact },
    ...pages.map(({ path, firstMs }) => ({
      what: `first load of ${path}`,
      measured: `${whole(firstMs)} ms`,
      floor: "under 1,000 ms",
      holds: firstMs < 1_000,
    })),
    ...pages.flatMap(({ path, scriptKb, shift }) => [
      {
        what: `scripts of ${path}`,
        measured: `${whole(scriptKb)} kB`,
        floor: "under 200 kB",
        holds: scriptKb < 200,
      },
      { what: `layout shift of ${path}`, measured: shift.toFixed(3), floor: "under 0.05", holds: shift < 0.05 },
    ]),
    ...floorsOutside(outside),
    floorOfStreams(streams),
    { what: "errors", measured: String(errors), floor: "0", holds: errors === 0 },
  ];
}

export function printTable({
  rows,
  residentMiB,
  history,
  bursts,
  gas,
  pages,
  outside,
  streams,
  floors,
}: Results & { readonly floors: readonly Floor[] }): void {
  console.table(
    rows.map((row) => ({
      scenario: row.name,
      connections: row.connections,
      "requests/s": Math.round(row.perSecond),
      "p50 ms": Number(row.p50Ms.toFixed(1)),
      "p99 ms": Number(row.p99Ms.toFixed(1)),
      ...(row.spent && shownUse(row.spent)),
      errors: row.errors,
    })),
  );
  console.log(`PostgreSQL storage of 1,000,000 authorizations: ${storageOf(rows)}.`);
  console.log(`Resident memory of the server: ${whole(residentMiB)} MiB.`);
  console.log(`Fresh mandate ${whole(history.fresh)}/s, mandate with 20,000 earlier decisions ${whole(history.old)}/s.`);
  console.table(
    bursts.map(({ processes, room, allowed, denied, errors }) => ({ processes, requests: 200, room, allowed, denied, errors })),
  );
  console.table(gas);
  console.table(
    pages.map(({ path, payments, firstMs, medianMs, scriptKb, shift }) => ({
      page: path,
      payments,
      "first ms": Math.round(firstMs),
      "median ms": Math.round(medianMs),
      "script kB": Math.round(scriptKb),
      "layout shift": Number(shift.toFixed(3)),
    })),
  );
  console.table(
    outside.map(({ page, pageConnections, p50Ms, p99Ms, emergencyMs, errors, pages: answered }) => ({
      "page connections": pageConnections,
      page,
      "p50 ms": Number(p50Ms.toFixed(1)),
      "p99 ms": Number(p99Ms.toFixed(1)),
      "emergencyRevoke ms": Math.round(emergencyMs),
      errors,
      answered: JSON.stringify(answered),
    })),
  );
  console.table([
    { ...streams, alone: Math.round(streams.alone), beside: Math.round(streams.beside), ratio: streams.ratio.toFixed(3) },
  ]);
  console.table(
    floors.map(({ what, measured, floor, holds }) => ({ floor: what, measured, promised: floor, holds: holds ? "yes" : "NO" })),
  );
}
