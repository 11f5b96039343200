import { createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "#test/free-port.ts";
import { holdPort, letGo } from "./port.ts";

test("a port that was chosen stays taken until its server starts", async () => {
  const wanted = await freePort();
  const first = await holdPort(wanted);
  const second = await holdPort(first);
  expect(second).toBeGreaterThan(first);
  expect(await letGo(first)).toBe(first);
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(first, resolve));
  await new Promise((resolve) => server.close(resolve));
  await letGo(second);
});
