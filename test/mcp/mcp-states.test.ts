import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { mcpPurchases } from "#lib/mcp/tables.ts";
import { resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { newKey as newAgent } from "#test/identity.ts";
import { newClient, type Fields } from "#test/mcp.ts";
import { mcpScene, text } from "#test/mcp-scene.ts";
import type { Credential } from "#test/tenant.ts";

const { scene, askingMandate, asks, approved, client, registeredMandate, report } = mcpScene();

const inputResponses = { approval: { action: "decline" } };
const conflict = { structuredContent: { status: "refused", problem: { code: "conflict" } } };
const asked = { structuredContent: { status: "approvalRequired" } };

/** Returns a function that calls authorize_payment and does not answer the questions of the service. */
async function caller(args: Fields, credential: Credential = scene().agent.credential) {
  const { client } = await newClient(scene().service.url, credential, () => "decline");
  return (change: Fields = {}) => {
    const params = { name: "authorize_payment", arguments: args, ...change };
    return client.request({ method: "tools/call", params }, { allowInputRequired: true }) as Promise<Fields>;
  };
}

describe("a requestState", () => {
  test("is valid once, for one call of one agent", async () => {
    const args = asks(await askingMandate());
    const send = await caller(args);
    const requestState = text(await send(), "requestState");
    const sendAsOther = await caller(args, (await newAgent(scene().owner)).credential);
    await expect(sendAsOther({ requestState, inputResponses })).rejects.toThrow("Invalid or expired requestState");
    await expect(send({ requestState: `${requestState.slice(0, -2)}AA`, inputResponses })).rejects.toThrow("requestState");
    const changed = await send({ requestState, inputResponses, arguments: asks(await askingMandate()) });
    expect(changed).toMatchObject(conflict);
    expect(await send({ requestState, inputResponses })).toMatchObject(asked);
    expect(await send({ requestState, inputResponses })).toMatchObject(conflict);
  });

  test("that was used stays refused after the same purchaseId began again", async () => {
    const send = await caller({ ...asks(await askingMandate()), purchaseId: `order-${crypto.randomUUID()}` });
    const used = text(await send(), "requestState");
    expect(await send({ requestState: used, inputResponses })).toMatchObject(asked);
    await database()
      .update(mcpPurchases)
      .set({ liveUntil: new Date(0) });
    expect(await send({ requestState: used, inputResponses })).toMatchObject(conflict);
    const fresh = text(await send(), "requestState");
    expect(await send({ requestState: used, inputResponses })).toMatchObject(conflict);
    expect(await send({ requestState: fresh, inputResponses })).toMatchObject(asked);
  });
});

describe("one approval that two purchases asked for", () => {
  test("pays for the one that continues first, and not for the one that asked first", async () => {
    const { call } = await client();
    const args = report(await registeredMandate({ mode: "always" }));
    const fetchAs = async (purchaseId: string) => (await call("fetch_paid", { ...args, purchaseId })).structuredContent;
    const [first, second] = [await fetchAs("first"), await fetchAs("second")];
    expect([first, second]).toMatchObject([{ status: "approvalRequired" }, { checkoutIntentId: first["checkoutIntentId"] }]);
    await approved(text(first, "checkoutIntentId"));
    const before = scene().seller.served();
    expect(await fetchAs("second")).toMatchObject({ status: "paid" });
    const ended = { status: "ended", next: expect.stringContaining("Nothing was paid for this purchase") };
    expect([await fetchAs("first"), await fetchAs("first")]).toMatchObject([ended, ended]);
    expect(await fetchAs("second")).toMatchObject({ status: "paid", repeated: true });
    expect(scene().seller.served()).toBe(before + 1);
  });
});

describe("a payment that fails after it was submitted", () => {
  const reads = async (): Promise<number> => {
    const { values } = await metrics().requests.get();
    return (
      values.find(({ metricName, labels }) => metricName?.endsWith("_count") && labels.operation === "getPayment")?.value ?? 0
    );
  };

  test("is not shown to the seller as paid", async () => {
    const { call } = await client();
    const mandateId = await registeredMandate({ mode: "never" });
    const args = report(mandateId);
    const { authorizationId, execution } = (await call("fetch_paid", args)).structuredContent;
    const { executionId } = execution as { readonly executionId: string };
    // The state in which a process that ends during the settlement leaves the purchase.
    await database()
      .update(mcpPurchases)
      .set({ result: null })
      .where(eq(mcpPurchases.authorizationId, String(authorizationId)));
    await database().update(executions).set({ settlementStatus: "processing" }).where(eq(executions.executionId, executionId));
    const before = await reads();
    const repeated = call("fetch_paid", args);
    await expect.poll(reads, { interval: 20 }).toBeGreaterThan(before + 1);
    const failure = { code: "credential_expired", detail: "The credential expired." } as const;
    await transact((tx) => resolveExecution(tx, executionId, mandateId, { kind: "failed", failure }));
    expect(await repeated).toMatchObject({
      isError: true,
      structuredContent: {
        status: "refused",
        execution: { executionId, settlementStatus: "failed" },
        next: expect.stringContaining("The credential expired."),
      },
    });
  });
});
