import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { authorized, expectedOf, newWallet, paymentScene, readPayment, signed, useSettlement } from "#test/payments.ts";
import { startServer, type RunningServer } from "#test/server.ts";

useDatabase();
const chain = useSettlement();
const servers: RunningServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const PAYMENTS = 24;

test("two processes that settle with the same key pay each payment exactly once", async () => {
  servers.push(...(await Promise.all([startServer(), startServer()])));
  const scene = await paymentScene({ settlementMode: "facilitatorSettled", price: "0.01" });
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  let repeats = 0;
  const pay = async (_: unknown, index: number) => {
    const { authorizationId } = await authorized(scene);
    const body = JSON.stringify({
      authorizationId,
      idempotencyKey: `two-${index}`,
      paymentCredential: await signed(wallet, expectedOf(scene)),
    });
    const headers = { "content-type": "application/json", ...scene.agent.credential };
    const execute = async ({ url }: Pick<RunningServer, "url">): Promise<number> => {
      const reply = await fetch(`${url}/api/v1/payments/execute`, { method: "POST", headers, body });
      // A process refuses if it or its database has too much to do. The same request may be sent again.
      if (reply.status !== 503) return reply.status;
      expect((repeats += 1), await reply.text()).toBeLessThan(50 * PAYMENTS);
      return pause(200).then(() => execute({ url }));
    };
    for (const status of await Promise.all(servers.map(execute))) expect([200, 409]).toContain(status);
    return authorizationId;
  };
  const ids = await Promise.all(Array.from({ length: PAYMENTS }, pay));
  const statuses = async () =>
    new Set(
      (await Promise.all(ids.map((id) => readPayment(scene, id)))).map(({ data }) =>
        data.executions.map((one) => one.settlementStatus).join(),
      ),
    );
  await expect.poll(statuses, { interval: 500 }).toEqual(new Set(["settled"]));
  expect(await chain().balanceOf(scene.seller.payTo)).toBe(BigInt(PAYMENTS) * 10_000n);
  expect(await brokenSums()).toEqual([]);
});
