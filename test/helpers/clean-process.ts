import "@hono/node-server/utils/response";
import { afterAll } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { forgetAll } from "#lib/process.ts";
import { watchStderr } from "#test/stderr.ts";

// The first import makes its marker with Node's own Response, which later code may replace.

const before = { ...process.env };
const names = ["Request", "Response", "Headers", "fetch", "crypto", "performance", "Date"] as const;
const globals = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)!] as const);
const unexpected = watchStderr();

/**
 * Test files share a process and its loaded modules. So each file restores the environment and the global objects, and clears the
 * state of the process. A file that has written an unexpected line to stderr fails.
 */
afterAll(async () => {
  await closePools();
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  for (const [name, descriptor] of globals) Object.defineProperty(globalThis, name, descriptor);
  forgetAll();
  const lines = unexpected();
  if (lines !== "") throw new Error(`This file wrote to stderr (expectStderr allows a line):\n${lines}`);
});
