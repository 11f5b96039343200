import { parseArgs } from "node:util";

/** An argument or a setting is missing or wrong. */
export class WrongUse extends Error {}

/** The line names no command, or one that does not exist. The list of the commands is shown too. */
export class NoCommand extends WrongUse {}

/** The output of a command: an object for --json, text for people, and the exit code, which is 0 if it is not given. */
export type Said = { readonly json: Readonly<Record<string, unknown>>; readonly text: string; readonly code?: number };

const options = {
  operation: { type: "string" },
  method: { type: "string" },
  data: { type: "string" },
  header: { type: "string", multiple: true },
  "no-wait": { type: "boolean" },
  amount: { type: "string" },
  asset: { type: "string" },
  payee: { type: "string" },
  seller: { type: "string" },
  reference: { type: "string" },
  purpose: { type: "string" },
  partly: { type: "boolean" },
  "paid-at": { type: "string" },
  evidence: { type: "string" },
  keys: { type: "string" },
  after: { type: "string" },
  cursor: { type: "string" },
  types: { type: "string" },
  secret: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

export type Values = ReturnType<typeof readArguments>["values"];
export const readArguments = (line: readonly string[]) => parseArgs({ args: [...line], options, allowPositionals: true });

/** Returns a signal that is aborted when the user stops the program. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
