import { afterEach, describe, expect, test } from "vitest";
import { endWaits, waitForChange } from "#lib/commerce/wait-for-checkout.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

afterEach(() => {
  endWaits();
  forget("commerce/wait-for-checkout");
});

/** Returns how many of these waiting requests are accepted. */
async function admitted(waits: readonly (readonly [organizationId: string, personId: string])[]): Promise<number> {
  let refused = 0;
  for (const [organizationId, personId] of waits) {
    const wait = { checkoutIntentId: "cki_a", organizationId, personId, state: "open" };
    waitForChange(wait, 20_000, new AbortController().signal).catch(() => (refused += 1));
  }
  await new Promise((resolve) => setImmediate(resolve));
  return waits.length - refused;
}

const waits = (count: number, of: (at: number) => readonly [string, string]) => Array.from({ length: count }, (_, at) => of(at));

describe("requests that wait for a buyer's decision", () => {
  test("share one limit for one person's ten organizations, and another person can still wait", async () => {
    expect(await admitted(waits(2_000, (at) => [`org_${at % 10}`, "usr_many"]))).toBe(300);
    expect(await admitted(waits(250, () => ["org_other", "usr_other"]))).toBe(200);
  });

  test("of many people leave a quarter of the places to people who have no waiting request", async () => {
    expect(await admitted(waits(3_000, (at) => [`org_${at % 20}`, `usr_${at % 20}`]))).toBe(1_500);
    expect(await admitted(waits(600, (at) => [`org_new_${at}`, `usr_new_${at}`]))).toBe(500);
  });
});
