import postgres, { type ISql } from "postgres";
import type { Query } from "#lib/db/connection.ts";
import { perProcess } from "#lib/process.ts";

/** Tagged statements and their helpers, for one connection or for a pool. */
export type Sql = ISql;

/** Makes queries and fragments, and never connects. */
const maker = (): postgres.Sql =>
  perProcess("queryMaker", () =>
    postgres("postgres://nobody@localhost/none", {
      max: 1,
      fetch_types: false,
      socket: () => {
        throw new Error("Queries are made here and sent elsewhere.");
      },
    } as postgres.Options<never>),
  );

/** A tag whose queries are handed to `run`, once somebody awaits them. */
export function sqlThrough(run: (query: Query) => void): Sql {
  const make = maker();
  const through = <T>(made: T): T => {
    if (made instanceof Promise) (made as unknown as Query).handler = run;
    return made;
  };
  const tag = (first: TemplateStringsArray, ...rest: never[]): unknown => through(make(first, ...rest));
  const unsafe = (text: string, parameters?: never[], options?: postgres.UnsafeQueryOptions): unknown =>
    through(make.unsafe(text, parameters, options));
  return Object.assign(tag, { unsafe, json: make.json, array: make.array }) as unknown as Sql;
}
