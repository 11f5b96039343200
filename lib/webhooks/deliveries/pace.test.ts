import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { observeRequest } from "#lib/telemetry/metrics.ts";
import { giveBack, paced } from "#lib/webhooks/deliveries/pace.ts";

test("messages are limited only while the process answers many requests", async () => {
  await pause(300);
  expect(await paced(5_000)).toBe(5_000);
  const answering = setInterval(() => {
    for (let at = 0; at < 10; at += 1) observeRequest("listEvents", 200, 1);
  }, 10);
  try {
    await pause(300);
    let begun = 0;
    const since = performance.now();
    // Messages that are given back can be granted again, so this call must not lower the count that is checked below.
    giveBack(await paced(32));
    while (performance.now() - since < 1_000) begun += await paced(32);
    const seconds = (performance.now() - since) / 1_000;
    expect(begun).toBeGreaterThanOrEqual(100 * seconds);
    expect(begun).toBeLessThanOrEqual(510 * seconds + 510 / 4 + 64);
  } finally {
    clearInterval(answering);
  }
  await expect.poll(() => paced(5_000)).toBe(5_000);
});
