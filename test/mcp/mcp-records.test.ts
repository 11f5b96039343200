import { eq } from "drizzle-orm";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonicalJson } from "#lib/canonical-json.ts";
import { database } from "#lib/db/client.ts";
import { mcpPurchases } from "#lib/mcp/tables.ts";
import { reject } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { closeClients, newClient, type Fields } from "#test/mcp.ts";
import { budgetOf, invoiceOf, useRecording } from "#test/recording.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";

useDatabase();
const { at, mandateFor, approved: approve } = useRecording();
let service: ListeningServer;
beforeAll(async () => void (service = await listenService()));
afterAll(async () => {
  await closeClients();
  await service.close();
});

const client = async () => (await newClient(service.url, at.agent)).call;
/** What authorize_payment takes: the tool sets the times and keys itself. */
function invoice(mandateId: string, amount: string): { readonly mandateId: string; readonly intent: Fields } {
  const { idempotencyKey: _, expiresAt: __, ...intent } = invoiceOf(amount);
  return { mandateId, intent };
}

describe("a payment that is made elsewhere", () => {
  test("is authorized, and recorded in parts, each once", async () => {
    const call = await client();
    const mandateId = await mandateFor("1000");
    const authorized = (await call("authorize_payment", invoice(mandateId, "100"))).structuredContent;
    expect(authorized).toMatchObject({ status: "authorized", next: expect.stringContaining("Pay it yourself") });
    const { authorizationId } = authorized;
    const part = { authorizationId, outcome: "partlyPaid", amount: "40", asset: "USD" };
    expect((await call("record_payment", part)).structuredContent).toMatchObject({
      status: "recorded",
      repeated: false,
      payment: { status: "open", captured: "40", open: "60" },
      record: { booked: "40", byAgent: true },
    });
    expect((await call("record_payment", part)).structuredContent).toMatchObject({ repeated: true, payment: { paid: "40" } });
    const second = (await call("record_payment", { ...part, part: "second" })).structuredContent;
    expect(second).toMatchObject({
      repeated: false,
      payment: { paid: "80", open: "20" },
      next: expect.stringContaining("stays held"),
    });
    const more = (await call("record_payment", { ...part, outcome: "paid", amount: "30" })).structuredContent;
    expect(more).toMatchObject({ payment: { asks: "exceeded" }, next: expect.stringContaining("more than was held") });
    expect(await budgetOf(mandateId)).toEqual([110, 0]);
    const { payment } = (await call("get_payment", { authorizationId })).structuredContent;
    expect(payment).toMatchObject({ recorded: { paid: "110" }, records: [{}, {}, {}] });
    expect((await call("record_payment", { ...part, outcome: "notPaid", amount: "0" })).isError).toBe(true);
  });

  test("waits for a person, who is asked before it is paid", async () => {
    const call = await client();
    const asking = invoice(await mandateFor("1000", { approval: { mode: "always" } }), "5");
    const asked = (await call("authorize_payment", asking)).structuredContent;
    expect(asked).toMatchObject({ status: "approvalRequired", next: expect.stringContaining("pay nothing before") });
    const { authorizationId, checkoutIntentId } = asked;
    const part = { authorizationId, outcome: "paid", amount: "5", asset: "USD" };
    const early = (await call("record_payment", part)).structuredContent;
    expect(early).toMatchObject({ status: "refused", problem: { code: "approval_required" } });
    expect((await approve(String(checkoutIntentId))).status).toBe(200);
    const found = (await call("get_payment", { authorizationId })).structuredContent;
    expect(found["next"]).toContain("record_payment");
    const declining = invoice(asking.mandateId, "6");
    const declined = (await call("authorize_payment", declining)).structuredContent;
    await reject(String(declined["checkoutIntentId"]), at.buyer.person.credential);
    const { authorizationId: refused } = declined;
    expect((await call("get_payment", { authorizationId: refused })).structuredContent["next"]).toBeUndefined();
    expect((await call("authorize_payment", declining)).structuredContent).toMatchObject({ status: "approvalDeclined" });
    const approved = (await call("authorize_payment", asking)).structuredContent;
    expect(approved).toMatchObject({ status: "authorized", authorizationId, next: expect.stringContaining("Pay it yourself") });
    expect((await call("record_payment", part)).structuredContent).toMatchObject({ status: "recorded", payment: { open: "0" } });
  });

  test("is stored without a hash by which others find the account, and is the same one in a repeat", async () => {
    const call = await client();
    const args = { ...invoice(await mandateFor("1000"), "7"), purchaseId: "rent-december" };
    const { authorizationId } = (await call("authorize_payment", args)).structuredContent;
    expect((await call("authorize_payment", args)).structuredContent).toMatchObject({ authorizationId, repeated: true });
    const { payment } = (await call("get_payment", { authorizationId })).structuredContent as { payment: { intent: Fields } };
    const [row] = await database()
      .select()
      .from(mcpPurchases)
      .where(eq(mcpPurchases.purchaseKey, String(payment.intent["idempotencyKey"])));
    const { organizationId } = at.buyer;
    const guesses = ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000"].map((value) => {
      const guess = { ...args, intent: { enforcementPath: "offchain", ...args.intent, payee: { kind: "iban", value } } };
      const text = canonicalJson([organizationId, "sandbox", at.agentId, "authorize_payment", guess]);
      return createHash("sha256").update(text).digest("base64url");
    });
    expect(guesses).not.toContain(row!.slot);
  });
});
