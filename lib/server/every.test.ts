import { expect, test } from "vitest";
import { every } from "#lib/server/every.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

test("a job runs again and again, one run at a time, also after a failure", async () => {
  let [open, most, runs] = [0, 0, 0];
  const worker = every(1, "test", async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 5));
    open -= 1;
    runs += 1;
    if (runs === 2) throw new Error("failed");
  });
  await expect.poll(() => runs).toBeGreaterThan(3);
  await worker.stop();
  expect([most, open]).toEqual([1, 0]);
});

test("a run that never ends does not stop its worker", async () => {
  let runs = 0;
  const never = () => {
    runs += 1;
    return runs === 1 ? new Promise<void>(() => {}) : Promise.resolve();
  };
  const worker = every(1, "hanging", never, { runMaxMs: 50 });
  await expect.poll(() => runs).toBeGreaterThan(2);
  await worker.stop();
});
