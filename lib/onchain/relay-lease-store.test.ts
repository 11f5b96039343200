import { expect, test } from "vitest";
import { underLease } from "#lib/onchain/relay-lease-store.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

const chain = "eip155:84532";

test("a lease is extended while its work runs, but not without limit, so that work that never ends does not block others", async () => {
  const never = new Promise<void>(() => {});
  const begun = Promise.withResolvers<void>();
  void underLease(chain, "settlement", () => (begun.resolve(), never), 5_000);
  await begun.promise;
  const take = () => underLease(chain, "settlement", async () => "taken");
  await new Promise((resolve) => setTimeout(resolve, 7_500));
  expect(await take()).toBeNull();
  await expect.poll(take, { interval: 250 }).toBe("taken");
});
