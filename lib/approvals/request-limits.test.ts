import { eq, sql } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { HOUR_MOST, OPEN_MOST } from "#lib/approvals/request-limits.ts";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { sweepCheckouts } from "#lib/commerce/sweep-checkouts.ts";
import { database } from "#lib/db/client.ts";
import { ServerConnection } from "#lib/db/connection.ts";
import { reservations } from "#lib/holds/tables.ts";
import { ask } from "#test/asking.ts";
import { ageRequests, approve, expire, items, preview, reject, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { createAgent, createOrganization, createResource } from "#test/tenant.ts";

useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

const asking = { ...policy, approval: { mode: "always" } };

/**
 * Makes a buyer with `count` mandates that require approval for every payment. The same payment under each mandate is a separate
 * request.
 */
async function askingBuyer(count: number) {
  const buyer = await createBuyer();
  const mandates = await Promise.all(
    Array.from({ length: count }, () => activeMandate(buyer.person.credential, { policy: asking })),
  );
  return { buyer, mandates };
}

const requestsOf = ({ agent }: Pick<Buyer, "agent">) =>
  database().select().from(checkoutIntents).where(eq(checkoutIntents.ownerSubjectId, agent.serviceAccountId));

const idOf = ({ data }: Awaited<ReturnType<typeof ask>>): string =>
  data.policyDecision.reasons.find(({ href }) => href)?.checkoutIntentId ?? "";

const codesOf = (replies: readonly { readonly status: number; readonly problem: { readonly code: string } }[]) =>
  replies.map(({ status, problem }) => (status < 300 ? "opened" : problem.code)).toSorted();

const outcome = (opened: number, refused: number) => [
  ...Array.from({ length: refused }, () => "approval_limit_reached"),
  ...Array.from({ length: opened }, () => "opened"),
];

/** The SQL texts of the statements that `work` sends. */
async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const sent = vi.spyOn(ServerConnection.prototype, "send");
  await work();
  const texts = sent.mock.calls.map(([query]) => (query as unknown as { readonly strings: readonly string[] }).strings.join("?"));
  sent.mockRestore();
  return texts;
}

describe("the requests of an agent", () => {
  test("at most 10 requests wait for a person: the next reserves nothing, and its refusal names the call that waits for a decision", async () => {
    const { buyer, mandates } = await askingBuyer(OPEN_MOST + 1);
    for (const mandateId of mandates.slice(0, OPEN_MOST)) expect((await ask(buyer, mandateId)).status).toBe(200);
    const last = mandates.at(-1) ?? "";
    const { status, problem } = await ask(buyer, last);
    const [first] = (await requestsOf(buyer)).map(({ checkoutIntentId }) => checkoutIntentId).toSorted();
    expect([status, problem.code, problem.actor]).toEqual([429, "approval_limit_reached", "agent"]);
    expect(problem.nextActions).toMatchObject([
      { type: "poll_status", metadata: { checkoutIntentId: first, pollWith: { method: "GET" } } },
    ]);
    expect(await database().select().from(reservations).where(eq(reservations.mandateId, last))).toEqual([]);
    expect((await ask(buyer, mandates[0] ?? "")).data.policyDecision.outcome).toBe("requireApproval");
    const other = await createAgent(buyer.organizationId, ["payments:authorize"]);
    expect((await ask(buyer, last, {}, other.credential)).status).toBe(200);
    expect((await reject(first ?? "", buyer.person.credential)).status).toBe(200);
    expect((await ask(buyer, await activeMandate(buyer.person.credential, { policy: asking }))).status).toBe(200);
  });

  test("a payment that needs no approval is not limited, and its agent is not locked or counted", async () => {
    const { buyer, mandates } = await askingBuyer(OPEN_MOST);
    const counting = await statementsOf(() => Promise.all(mandates.map((mandateId) => ask(buyer, mandateId))));
    expect(counting.some((text) => text.includes("requests of"))).toBe(true);
    const free = await activeMandate(buyer.person.credential, { policy });
    const statements = await statementsOf(async () => expect((await ask(buyer, free)).data.policyDecision.outcome).toBe("allow"));
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((text) => text.includes("requests of"))).toEqual([]);
  });

  test("at most 30 requests are opened within an hour, and the answer says when to ask again", async () => {
    const { buyer, mandates } = await askingBuyer(HOUR_MOST + 1);
    for (const mandateId of mandates.slice(0, HOUR_MOST)) {
      const asked = await ask(buyer, mandateId);
      expect(asked.status).toBe(200);
      await reject(idOf(asked), buyer.person.credential);
    }
    await ageRequests(buyer.agent.serviceAccountId, 50);
    const refused = await ask(buyer, mandates.at(-1) ?? "");
    expect([refused.problem.code, refused.problem.nextActions[0]?.type]).toEqual(["approval_limit_reached", "retry_later"]);
    const after = Number(refused.headers.get("retry-after"));
    expect(after).toBeGreaterThan(500);
    expect(after).toBeLessThanOrEqual(600);
    await ageRequests(buyer.agent.serviceAccountId, 61);
    expect((await ask(buyer, mandates.at(-1) ?? "")).status).toBe(200);
  });

  test("of 30 requests at once under 30 mandates, exactly 10 are opened, in each of 3 rounds", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { buyer, mandates } = await askingBuyer(3 * OPEN_MOST);
      const replies = await Promise.all(mandates.map((mandateId) => ask(buyer, mandateId)));
      expect(codesOf(replies)).toEqual(outcome(OPEN_MOST, 2 * OPEN_MOST));
      expect(await requestsOf(buyer)).toHaveLength(OPEN_MOST);
    }
  });

  test("after a person declines a basket, the agent is denied the same basket for an hour, and nobody is asked", async () => {
    const { buyer, mandates } = await askingBuyer(2);
    const [mandateId = "", other = ""] = mandates;
    const first = await ask(buyer, mandateId);
    await reject(idOf(first), buyer.person.credential);
    const again = await ask(buyer, mandateId);
    expect(again.data.policyDecision).toMatchObject({ outcome: "deny", denialCode: "approval_rejected" });
    expect(again.data.policyDecision.reasons[0]?.message).toMatch(/^A person declined this basket/);
    expect(await requestsOf(buyer)).toHaveLength(1);
    expect((await ask(buyer, other)).data.policyDecision.outcome).toBe("requireApproval");
    await database()
      .update(checkoutIntents)
      .set({ updatedAt: sql`statement_timestamp() - interval '61 minutes'` })
      .where(eq(checkoutIntents.checkoutIntentId, idOf(first)));
    expect((await ask(buyer, mandateId)).data.policyDecision.outcome).toBe("requireApproval");
  });

  test("after a person declines a basket, also several payments for it at once are denied, and nobody is asked", async () => {
    const { buyer, mandates } = await askingBuyer(1);
    const [mandateId = ""] = mandates;
    await reject(idOf(await ask(buyer, mandateId)), buyer.person.credential);
    const again = await Promise.all([1, 2, 3].map(() => ask(buyer, mandateId)));
    expect(again.map(({ data }) => data.policyDecision.denialCode)).toEqual(Array(3).fill("approval_rejected"));
    expect(await requestsOf(buyer)).toHaveLength(1);
  });

  test("a declined basket stays declined if only the denial of another payment at the same time lets it ask", async () => {
    const buyer = await createBuyer();
    const limits = { perPayment: "0.5", total: "0.5" };
    const mandateId = await activeMandate(buyer.person.credential, { policy: { ...asking, limits } });
    const buyers = [buyer, { ...buyer, resource: await createResource(await createOrganization("Shop"), "0.5") }];
    for (const one of buyers) await reject(idOf(await ask(one, mandateId)), buyer.person.credential);
    const again = await Promise.all(buyers.map((one) => ask(one, mandateId)));
    expect(again.map(({ data }) => data.policyDecision.denialCode)).toEqual(Array(2).fill("approval_rejected"));
    expect(await requestsOf(buyer)).toHaveLength(2);
  });

  test("if nobody answers, the agent asks once more; then it is denied for an hour, unless it gives a new purpose", async () => {
    const { buyer, mandates } = await askingBuyer(1);
    const [mandateId = ""] = mandates;
    const unanswered = async (change: Record<string, unknown> = {}) => {
      const asked = await ask(buyer, mandateId, change);
      expect(asked.data.policyDecision.outcome).toBe("requireApproval");
      await expire(idOf(asked));
      await sweepCheckouts();
    };
    await unanswered();
    await unanswered();
    const third = await ask(buyer, mandateId);
    expect(third.data.policyDecision).toMatchObject({ outcome: "deny", denialCode: "approval_rejected" });
    expect(third.data.policyDecision.reasons[0]?.message).toMatch(/^People were asked twice about this basket/);
    await unanswered({ metadata: { purpose: "The report is due today." } });
    await database()
      .update(checkoutIntents)
      .set({ expiresAt: sql`statement_timestamp() - interval '61 minutes'` })
      .where(eq(checkoutIntents.ownerSubjectId, buyer.agent.serviceAccountId));
    expect((await ask(buyer, mandateId)).data.policyDecision.outcome).toBe("requireApproval");
  });

  test("an approval that the agent did not use is an answer: the agent may ask about this basket again", async () => {
    const person = await newOrganization();
    const buyer = { ...(await createBuyer()), person, agent: await newKey(person) };
    const mandateId = await activeMandate(person.credential, { policy: asking });
    for (let time = 0; time < 3; time += 1) {
      const asked = await ask(buyer, mandateId);
      expect(asked.data.policyDecision.outcome).toBe("requireApproval");
      await reviewed(idOf(asked), person);
      expect((await approve(idOf(asked), person.credential)).status).toBe(200);
      await expire(idOf(asked));
      await database()
        .update(checkoutApprovals)
        .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` })
        .where(eq(checkoutApprovals.checkoutIntentId, idOf(asked)));
      await sweepCheckouts();
    }
    expect((await requestsOf(buyer)).map(({ status }) => status)).toEqual(["expired", "expired", "expired"]);
  });

  test.each([
    ["longer than people are shown", "Lab supplies. ".repeat(20)],
    ["with more spaces", "Lab   supplies\n"],
  ])("a purpose %s is the same purpose if it is repeated", async (_name, purpose) => {
    const { buyer, mandates } = await askingBuyer(1);
    for (const outcome of ["requireApproval", "requireApproval", "deny"]) {
      const asked = await ask(buyer, mandates[0] ?? "", { metadata: { purpose } });
      expect(asked.data.policyDecision.outcome).toBe(outcome);
      if (outcome === "deny") return;
      await expire(idOf(asked));
      await sweepCheckouts();
    }
  });

  test("payments and previews at the same time count together", async () => {
    const { buyer, mandates } = await askingBuyer(OPEN_MOST);
    const { credential, serviceAccountId } = await createAgent(buyer.organizationId, ["payments:authorize", "checkouts:preview"]);
    const previews = Array.from({ length: OPEN_MOST }, (_, at) =>
      preview(shop, credential, { items: items.map((item) => ({ ...item, quantity: at + 1 })) }),
    );
    const payments = mandates.map((mandateId) => ask(buyer, mandateId, {}, credential));
    const replies = [...(await Promise.all(payments)), ...(await Promise.all(previews))];
    expect(codesOf(replies)).toEqual(outcome(OPEN_MOST, OPEN_MOST));
    expect(await requestsOf({ agent: { credential, serviceAccountId } })).toHaveLength(OPEN_MOST);
  });
});
