import { eq, sql } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileFacilitator, type Fault, type HostileFacilitator } from "#test/hostile-facilitator.ts";
import { brokenSums } from "#test/invariants.ts";
import { authorized, expectedOf, newWallet, paymentScene, readPayment, signed, useSettlement } from "#test/payments.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { stockFacilitator } from "#test/shop.ts";

let hostile: HostileFacilitator;
beforeAll(async () => {
  hostile = await openHostileFacilitator(() => stockFacilitator(chain()));
});
useDatabase();
const chain = useSettlement({ facilitators: () => [{ url: hostile.url }] });
const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  expect(await brokenSums()).toEqual([]);
});
afterAll(() => hostile.close());

async function started(): Promise<RunningServer> {
  const server = await startServer();
  running.push(server);
  return server;
}

/** Makes the lease of the killed process end, and makes the next check of its execution due. */
const timePasses = (authorizationId: string) =>
  database()
    .update(executions)
    .set({ nextCheckAt: new Date(0), createdAt: sql`created_at - interval '2 minutes'` })
    .where(eq(executions.authorizationId, authorizationId));

describe("kill -9 between the two transactions of executePayment", () => {
  test.each<Fault>(["hang", "acceptThenTimeOut"])(
    "with a facilitator that %s: the next process settles once, and the same key gets the result",
    async (fault) => {
      hostile.fault = fault;
      const scene = await paymentScene({ settlementMode: "facilitatorSettled", facilitatorUrl: hostile.url });
      const wallet = newWallet();
      await chain().mint(wallet.address, 1_000_000n);
      const { authorizationId } = await authorized(scene);
      const body = JSON.stringify({
        authorizationId,
        idempotencyKey: `crash-${fault}`,
        paymentCredential: await signed(wallet, expectedOf(scene)),
      });
      const headers = { "content-type": "application/json", ...scene.agent.credential };
      const ask = ({ url }: RunningServer) => fetch(`${url}/api/v1/payments/execute`, { method: "POST", headers, body });

      const first = await startServer();
      const before = hostile.asked();
      const cut = ask(first).catch(() => null);
      await expect.poll(() => hostile.asked()).toBe(before + 1);
      const paid = fault === "hang" ? 0n : 250_000n;
      await expect.poll(() => chain().balanceOf(scene.seller.payTo)).toBe(paid);
      await first.kill();
      expect(await cut).toBeNull();
      expect((await readPayment(scene, authorizationId)).data.executions[0]?.settlementStatus).toBe("processing");
      expect(await brokenSums()).toEqual([]);

      hostile.fault = "clean";
      const second = await started();
      const early = await ask(second);
      expect([early.status, ((await early.json()) as { code: string }).code]).toEqual([409, "idempotency_in_flight"]);
      await timePasses(authorizationId);
      const state = async () =>
        (await readPayment(scene, authorizationId)).data.executions.map(({ settlementStatus }) => settlementStatus);
      await expect.poll(state).toEqual(["settled"]);
      const reply = await ask(second);
      expect(reply.status).toBe(200);
      const bytes = await reply.text();
      expect(JSON.parse(bytes)).toMatchObject({ settlementStatus: "settled", authorizationId });
      expect(await (await ask(second)).text()).toBe(bytes);
      expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
      expect(await chain().balanceOf(wallet.address)).toBe(750_000n);
    },
  );
});
