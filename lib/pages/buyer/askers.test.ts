import { describe, expect, test } from "vitest";
import { nameAsker } from "#lib/identity/asker.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";
import { paymentsCsv } from "#lib/pages/buyer/export-payments.ts";
import { viewDecided, viewWaiting } from "#lib/pages/buyer/view-approvals.ts";
import { viewFix } from "#lib/pages/buyer/view-fix.ts";
import { viewMandateLedger } from "#lib/pages/buyer/view-mandate-ledger.ts";
import { viewPayment } from "#lib/pages/buyer/view-payment.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { viewRefusals } from "#lib/pages/buyer/view-refusals.ts";
import { ask } from "#test/asking.ts";
import { reject, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer, policy } from "#test/mandates.ts";
import { delivered } from "#test/notices.ts";
import { createPerson } from "#test/tenant.ts";

useDatabase();

const agentsName = { name: "Agent", isServiceAccount: true, isReader: false };
const ownName = { name: "Ada", isServiceAccount: false, isReader: true, note: "you, test payment" };

describe.each(["an agent", "a person"])("a payment that %s asks for", (who) => {
  const isAgent = who === "an agent";

  async function scene(limits = policy.limits) {
    const buyer = await createBuyer();
    const mandateId = await activeMandate(buyer.person.credential, {
      policy: { ...policy, limits, approval: { mode: "always" } },
    });
    const colleague = await createPerson(buyer.organizationId);
    const { data } = await ask(buyer, mandateId, {}, isAgent ? buyer.agent.credential : buyer.person.credential);
    const { authorizationId, policyDecision } = data;
    const checkoutIntentId = policyDecision.reasons.find(({ effect }) => effect === "approval")?.checkoutIntentId ?? "";
    const { organizationId } = buyer;
    const scopeOf = ({ userId }: typeof colleague) => ({ organizationId, environment: "sandbox", userId });
    const asker = {
      ...(isAgent ? agentsName : ownName),
      subjectId: isAgent ? buyer.agent.serviceAccountId : buyer.person.userId,
    };
    const seen = isAgent ? asker : { ...asker, isReader: false, note: "test payment" };
    return { buyer, mandateId, colleague, authorizationId, checkoutIntentId, policyDecision, scopeOf, asker, seen };
  }

  test("names the asker in the list of requests, on the request and in the mail, and says nothing false about them", async () => {
    const { buyer, colleague, checkoutIntentId, scopeOf, asker, seen } = await scene();
    expect((await viewWaiting(scopeOf(buyer.person))).items).toMatchObject([{ checkoutIntentId, asker }]);
    expect((await viewWaiting(scopeOf(colleague))).items).toMatchObject([{ checkoutIntentId, asker: seen }]);
    expect((await view(checkoutIntentId, buyer.person.credential)).agent).toEqual({ ...asker, active: true, paused: false });
    await followEvents();
    await sendNotices();
    const mails = (await delivered()).filter((mail) => mail.checkoutIntentId === checkoutIntentId);
    const told = ({ userId }: typeof colleague) => mails.find(({ recipientId }) => recipientId === userId)?.plain;
    const plain = (text = "") => text.replaceAll(/[\u2060\u2066-\u2069]/g, "");
    if (isAgent) {
      expect(plain(told(colleague))).toMatch(/“Agent” asks to pay 0\.50 USDC to “[^”]+”\. It is an agent of “Buyer”\./);
    } else {
      expect(plain(told(buyer.person))).toMatch(
        /“Ada” \(you, test payment\) asks to pay 0\.50 USDC to “[^”]+”\. A person of “Buyer” asks/,
      );
      expect(plain(told(colleague))).toContain("“Ada” (test payment) asks to pay");
      expect(told(colleague)).not.toContain("It is an agent");
    }
  });

  test("names the asker in the lists of decisions, payments and entries, on the payment and in the CSV", async () => {
    const { buyer, mandateId, authorizationId, checkoutIntentId, scopeOf, asker, seen, colleague } = await scene();
    const scope = scopeOf(buyer.person);
    expect((await viewPayments(scope, {}, { limit: 5 })).items).toMatchObject([{ authorizationId, asker }]);
    expect((await viewMandateLedger(scope, mandateId, { limit: 5 })).items).toMatchObject([{ authorizationId, asker }]);
    const payment = await viewPayment(scopeOf(colleague), authorizationId);
    expect(payment.asker).toEqual(seen);
    const first = payment.timeline[0]?.text?.replaceAll(/[\u2066-\u2069]/g, "");
    expect(first).toBe(`${isAgent ? "Agent" : "Ada (test payment)"} asked, and the policy asks a person first.`);
    const [head = "", line = ""] = (await Array.fromAsync(paymentsCsv(buyer.person.credential["cookie"]!, scope as never, {})))
      .join("")
      .split("\r\n");
    const field = (name: string) => line.split(",")[head.split(",").indexOf(name)];
    expect([field("agentId"), field("agentName")]).toEqual([asker.subjectId, asker.name]);
    await reject(checkoutIntentId, buyer.person.credential);
    expect((await viewDecided(scope, { cursor: undefined, limit: 5 })).items).toMatchObject([{ checkoutIntentId, asker }]);
  });

  test("names the asker where a payment was refused, and where the refusal can be mended", async () => {
    const { buyer, authorizationId, mandateId, policyDecision, scopeOf, asker } = await scene({
      ...policy.limits,
      perPayment: "0.1",
    });
    expect(policyDecision.outcome).toBe("deny");
    const scope = scopeOf(buyer.person);
    expect(await viewRefusals(scope, { manage: true })).toMatchObject([{ authorizationId, asker }]);
    expect(await viewFix(scope, mandateId, policyDecision.policyDecisionId)).toMatchObject({ authorizationId, asker });
  });
});

test("in production a person's payment is no test, and a name that is not known is no id of a person", () => {
  const named = (userId: string) => nameAsker("usr_1", new Map(), { userId, environment: "production" });
  expect(named("usr_1")).toEqual({
    subjectId: "usr_1",
    name: "A former member",
    isServiceAccount: false,
    isReader: true,
    note: "you",
  });
  expect(named("usr_2").note).toBeUndefined();
});
