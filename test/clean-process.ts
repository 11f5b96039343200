import { afterAll } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { forgetAll } from "#lib/process.ts";

const before = { ...process.env };

/**
 * Test files share a process and its loaded modules. So each file restores the environment and clears the state of the process.
 */
afterAll(async () => {
  await closePools();
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  forgetAll();
});
