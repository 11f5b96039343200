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

const given = <T>(value: T | undefined, floors: (value: T) => Floor[]): Floor[] => (value === undefined ? [] : floors(value));

function floorsOfRows(rows: readonly Row[]): Floor[] {
  const row = (name: string, connections: number) => rows.find((one) => one.name === name && one.connections === connections);
  const baselines = [EACH, DRIVER].flatMap((baseline) =>
    given(row(baseline, 64), (against) => {
      const times = (row(BESIDE, 64)?.perSecond ?? 0) / against.perSecond;
      const what = `hot mandate against ${baseline.replace("baseline: ", "")}`;
      return [{ what, measured: `${times.toFixed(1)} times`, floor: "2.5 times", holds: times >= 2.5 }];
    }),
  );
  const errors = rows.reduce((sum, one) => sum + one.errors, 0);
  return [
    ...given(row(HOT, 64), ({ perSecond, p99Ms }) => [
      { what: "hot mandate, 64 connections", measured: `${whole(perSecond)}/s`, floor: "3,000/s", holds: perSecond >= 3_000 },
      { what: "hot mandate p99", measured: `${p99Ms.toFixed(1)} ms`, floor: "under 80 ms", holds: p99Ms < 80 },
    ]),
    ...baselines,
    ...given(row("1,000 mandates", 64), ({ perSecond }) => [
      { what: "1,000 mandates, 64 connections", measured: `${whole(perSecond)}/s`, floor: "2,500/s", holds: perSecond >= 2_500 },
    ]),
    ...given(row(HOT, 1), ({ p50Ms }) => [
      { what: "idle p50", measured: `${p50Ms.toFixed(1)} ms`, floor: "under 6 ms", holds: p50Ms < 6 },
    ]),
    { what: "errors", measured: String(errors), floor: "0", holds: errors === 0 },
  ];
}

function floorsOfHistory({ fresh, old }: Results["history"]): Floor[] {
  const fall = 1 - old / fresh;
  const measured = `${(fall * 100).toFixed(1)} % slower`;
  return [{ what: "20,000 earlier decisions", measured, floor: "under 10 %", holds: fall < 0.1 }];
}

function floorsOfBursts(bursts: readonly Burst[]): Floor[] {
  const exact = bursts.every(({ room, allowed, denied, errors }) => allowed === room && allowed + denied === 200 && errors === 0);
  return [{ what: "bursts of 200", measured: exact ? "exact" : "not exact", floor: "exact, no error", holds: exact }];
}

const floorsOfPages = (pages: readonly PageLoad[]): Floor[] =>
  pages.flatMap(({ path, firstMs, scriptKb, shift }) => [
    {
      what: `first load of ${path}`,
      measured: `${whole(firstMs)} ms`,
      floor: "under 1,000 ms",
      holds: firstMs < 1_000,
    },
    { what: `scripts of ${path}`, measured: `${whole(scriptKb)} kB`, floor: "under 200 kB", holds: scriptKb < 200 },
    { what: `layout shift of ${path}`, measured: shift.toFixed(3), floor: "under 0.05", holds: shift < 0.05 },
  ]);

/**
 * Compares the results with the limits that the project requires on two cores, with everything on the same machine. What was not
 * measured has no limit here.
 */
export function floorsOf({ rows, residentMiB, history, bursts, pages, outside, streams }: Partial<Results>): Floor[] {
  return [
    ...given(rows, floorsOfRows),
    ...given(residentMiB, (mib) => [
      { what: "resident memory", measured: `${whole(mib)} MiB`, floor: "at most 400 MiB", holds: mib <= 400 },
    ]),
    ...given(history, floorsOfHistory),
    ...given(bursts, floorsOfBursts),
    ...given(pages, floorsOfPages),
    ...given(outside, floorsOutside),
    ...given(streams, (one) => [floorOfStreams(one)]),
  ];
}

/** Prints the result of a section. */
export const show: { readonly [Section in keyof Results]: (result: Results[Section]) => void } = {
  rows: (rows) => {
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
  },
  residentMiB: (residentMiB) => console.log(`Resident memory of the server: ${whole(residentMiB)} MiB.`),
  history: ({ fresh, old }) =>
    console.log(`Fresh mandate ${whole(fresh)}/s, mandate with 20,000 earlier decisions ${whole(old)}/s.`),
  bursts: (bursts) =>
    console.table(
      bursts.map(({ processes, room, allowed, denied, errors }) => ({ processes, requests: 200, room, allowed, denied, errors })),
    ),
  gas: (gas) => console.table(gas),
  pages: (pages) =>
    console.table(
      pages.map(({ path, payments, firstMs, medianMs, scriptKb, shift }) => ({
        page: path,
        payments,
        "first ms": Math.round(firstMs),
        "median ms": Math.round(medianMs),
        "script kB": Math.round(scriptKb),
        "layout shift": Number(shift.toFixed(3)),
      })),
    ),
  outside: (outside) =>
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
    ),
  streams: (streams) =>
    console.table([
      { ...streams, alone: Math.round(streams.alone), beside: Math.round(streams.beside), ratio: streams.ratio.toFixed(3) },
    ]),
};

export const showFloors = (floors: readonly Floor[]): void =>
  console.table(
    floors.map(({ what, measured, floor, holds }) => ({ floor: what, measured, promised: floor, holds: holds ? "yes" : "NO" })),
  );
