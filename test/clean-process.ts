import { afterAll } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { forgetAll } from "#lib/process.ts";

const before = { ...process.env };

/** Files share a process, which loads the code once. Each leaves it as it found it. */
afterAll(async () => {
  await closePools();
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  forgetAll();
});
