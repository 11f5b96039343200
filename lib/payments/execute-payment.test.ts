import { describe, expect, test } from "vitest";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { useDatabase } from "#test/database.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, readPayment, signed, useSettlement } from "#test/payments.ts";

useDatabase();
const chain = useSettlement();

describe("executePayment", () => {
  test("200 settled: we settle, the seller has exactly the price, the hold is captured", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const wallet = newWallet();
    await chain().mint(wallet.address, 1_000_000n);
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    const { status, data } = await execute(scene, { authorizationId, paymentCredential });
    expect(data).toMatchObject({ settlementStatus: "settled" });
    expect(status).toBe(200);
    expect(await chain().balanceOf(scene.seller.payTo as `0x${string}`)).toBe(250_000n);
    expect((await readPayment(scene, authorizationId)).data.executions).toHaveLength(1);
  });
});
void reconcile;
