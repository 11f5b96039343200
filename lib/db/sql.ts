import postgres, { type ISql } from "postgres";
import type { Query } from "#lib/db/connection.ts";
import { perProcess } from "#lib/process.ts";

type QueryClass = new (
  strings: readonly string[],
  args: unknown,
  handler: (query: Query) => void,
  canceller: null,
  options: object,
) => Query;

export type Sql = ISql;

/**
 * The driver, once per process. `npm run dev` loads this code twice, and one copy of the driver would take a part of a statement
 * that the other copy made for a parameter.
 */
export const driver = (): typeof postgres => perProcess("db/sql driver", () => postgres);

/** Only makes queries and never connects, because the pool sends them. */
const maker = (): postgres.Sql =>
  perProcess("db/sql queryMaker", () =>
    driver()("postgres://nobody@localhost/none", {
      max: 1,
      fetch_types: false,
      socket: () => {
        throw new Error("Queries are made here and sent elsewhere.");
      },
    } as postgres.Options<never>),
  );

/** Without a limit, lists of different lengths would make so many prepared statements that they fill the server's memory. */
const PREPARED_MAX = 256;
const PARAMETERS_MAX = 40;
/** A statement is prepared from this use on, because it will probably be used again. */
const USES = 3;
const COUNTED_MAX = 4_096;

const counted = (): Map<string, number> => perProcess("db/sql statementUses", () => new Map());
const preparable = (): Set<string> => perProcess("db/sql preparableStatements", () => new Set());

/** A prepared statement takes one round trip instead of two, and is not parsed again. */
function isPrepared(text: string, parameters: readonly unknown[]): boolean {
  const chosen = preparable();
  if (chosen.has(text)) return true;
  if (parameters.length === 0 || parameters.length > PARAMETERS_MAX || chosen.size >= PREPARED_MAX) return false;
  const uses = (counted().get(text) ?? 0) + 1;
  if (uses < USES) {
    if (counted().size >= COUNTED_MAX) counted().clear();
    counted().set(text, uses);
    return false;
  }
  counted().delete(text);
  chosen.add(text);
  return true;
}

export function copyOf(query: Query, run: (copy: Query) => void): Query {
  const { strings, args, options, isRaw } = query;
  const copy = new (query.constructor as QueryClass)(strings, args, run, null, { ...options });
  return Object.assign(copy, { isRaw });
}

/** When a query of this template tag is awaited, it is passed to `run`. */
export function sqlThrough(run: (query: Query) => void): Sql {
  const make = maker();
  const through = <T>(made: T): T => {
    if (made instanceof Promise) (made as unknown as Query).handler = run;
    return made;
  };
  const tag = (first: TemplateStringsArray, ...rest: never[]): unknown => through(make(first, ...rest));
  const unsafe = (text: string, parameters: never[] = [], options?: postgres.UnsafeQueryOptions): unknown =>
    through(make.unsafe(text, parameters, options ?? { prepare: isPrepared(text, parameters) }));
  return Object.assign(tag, { unsafe, json: make.json, array: make.array }) as unknown as Sql;
}
