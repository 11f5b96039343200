import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test, vi } from "vitest";
import * as sdk from "../sdk/src/index.ts";
import { forget } from "#lib/process.ts";
import { minutes } from "#lib/time.ts";
import { approve, checkoutScene, items, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { settlesThrough } from "#test/orders.ts";
import { useSettlement } from "#test/payments.ts";
import { settling } from "#test/settling.ts";
import { listenService, stockFacilitator } from "#test/shop.ts";

useDatabase();
const chain = useSettlement();

test(
  "an order that is processing is completed by the same call, even if a person needed six minutes to approve it",
  { timeout: 90_000 },
  async () => {
    const scene = await checkoutScene();
    const service = await listenService();
    onTestFinished(() => service.close());
    const shop = await openHostileStorefront();
    onTestFinished(() => shop.close());
    settlesThrough(shop, await stockFacilitator(chain()));
    const settle = shop.settle!;
    // The shop settles the payment, fails once, and then answers again, so the order is processing for a while.
    shop.fault = "paid500";
    shop.settle = async (...payment) => {
      const settled = await settle(...payment);
      setImmediate(() => Object.assign(shop, { fault: "clean", settle: null }));
      return settled;
    };
    process.env["OUTBOUND_LOOPBACK"] = new URL(shop.url).host;
    for (const name of ["env", "outbound", "probes"]) forget(name);
    const policy = {
      assets,
      limits: { perPayment: "100", total: "1000" },
      sellers: { unregistered: "allow" },
      approval: { mode: "always" },
    };
    const mandateId = await activeMandate(scene.person.credential, { policy });
    const wallet = privateKeyToAccount(generatePrivateKey());
    await chain().mint(wallet.address, 1_000_000_000n);
    const onApproval = async ({ url }: { readonly url: string }) => {
      const id = new URL(url).pathname.split("/").at(-1) ?? "";
      await reviewed(id, scene.person);
      expect((await approve(id, scene.person.credential)).status).toBe(200);
      vi.useRealTimers();
    };
    // The call begins six minutes ago, and the person approves now.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - minutes(6) });
    onTestFinished(() => void vi.useRealTimers());
    const pay = sdk.countersign({ url: service.url, apiKey: scene.agent.apiKey, mandateId, wallet, onApproval });
    const placed = await settling(pay.order({ storefrontUrl: shop.url, items, operation: "approved late" }));
    expect(placed.status).toBe("completed");
  },
);
