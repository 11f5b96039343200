import { beforeEach, describe, expect, test } from "vitest";
import * as steps from "#lib/approvals/decision/contract.ts";
import { stepUp } from "#lib/approvals/decision/step-up.ts";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { operations } from "#lib/operations/operations.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { approve, checkoutScene, open, view, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { PASSWORD } from "#test/identity.ts";
import { activate, resume, suspend } from "#test/mandate-steps.ts";
import { activeMandate, assets, authorize, draftMandate } from "#test/mandates.ts";
import { actAsked } from "#test/proofs.ts";
import { createOrganization, createResource, send } from "#test/tenant.ts";
import { askAllowOnce, setVerified } from "#test/waivers.ts";

/*
 * A door is an act of a person that lets money through. Every door asks for the same step-up: above 100 units, with what the
 * person let through in 24 hours, and above 25 if the payee may be unverified.
 */

useDatabase();

let scene: CheckoutScene;
beforeEach(async () => {
  scene = await checkoutScene();
});

type Reply = { readonly status: number; readonly problem: ErrorBody };
type Door = { readonly ask: () => Promise<Reply>; readonly subjectId: string };

const limitsOf = (amount: string) => ({ perPayment: amount, budgets: [{ period: "day", timezone: "UTC", amount }] });
const policyOf = (amount: string, verified = true) => ({
  assets,
  limits: limitsOf(amount),
  ...(verified && { requireVerifiedSeller: true }),
});

/** A verified seller with one resource, which the scene's organization has paid before. */
async function knownSeller(price: string) {
  const resource = await createResource(await createOrganization("Shop"), price);
  await setVerified(resource.sellerId);
  const { mandateId } = scene;
  await database().insert(mandateSellers).values({ mandateId, sellerId: resource.sellerId, firstPaidAt: new Date() });
  return resource;
}

/** 1,000 USDC per payment, to any seller. */
const wide = { ...open, limits: limitsOf("1000") };

const me = () => scene.person.credential;

/** A request for approval of a payment of `amount` to a verified seller that was paid before. */
async function waiting(amount: string): Promise<string> {
  const mandateId = await activeMandate(me(), { policy: { ...wide, approval: { mode: "always" } } });
  const { policyDecision } = await authorize({ agent: scene.agent, resource: await knownSeller(amount) }, mandateId, amount);
  return (
    policyDecision.reasons
      .find(({ href }) => href)
      ?.href?.split("/")
      .at(-1) ?? ""
  );
}

const doors: Readonly<Record<string, (amount: string) => Promise<Door>>> = {
  approveCheckout: async (amount) => {
    const subjectId = await waiting(amount);
    await view(subjectId, me());
    return { subjectId, ask: () => approve(subjectId, me()) };
  },
  allowPaymentOnce: async (amount) => {
    const mandateId = await activeMandate(me(), { policy: { ...wide, limits: { ...wide.limits, perPayment: "0.01" } } });
    const { authorizationId } = await authorize({ agent: scene.agent, resource: await knownSeller(amount) }, mandateId, amount);
    return { subjectId: authorizationId, ask: () => askAllowOnce(me(), authorizationId) };
  },
  activateMandate: async (amount) => {
    const { mandateId } = await draftMandate(me(), { policy: policyOf(amount) });
    return { subjectId: mandateId, ask: () => activate(me(), mandateId) };
  },
  resumeMandate: async (amount) => {
    const mandateId = await activeMandate(me(), { policy: policyOf(amount) });
    await suspend(me(), mandateId);
    return { subjectId: mandateId, ask: () => resume(me(), mandateId) };
  },
  updateMandate: async (amount) => {
    const mandateId = await activeMandate(me(), { policy: policyOf("1") });
    const body = { policy: policyOf(amount) };
    return { subjectId: mandateId, ask: () => send(mandates.updateMandate, updateMandate, { as: me(), id: mandateId, body }) };
  },
};

const answerOf = ({ status, problem }: Reply) => (status === 200 ? "done" : problem.code);

/** Gives the proof that the refusal names, with the password. */
const prove = (problem: ErrorBody, checkoutIntentId: string) =>
  send(steps.stepUp, stepUp, {
    as: me(),
    body: { password: PASSWORD, ...(actAsked(problem) ? { act: actAsked(problem) } : { checkoutIntentId }) },
  });

describe.each(Object.entries(doors))("every door that lets money through asks the same step-up: %s", (_name, opened) => {
  test("up to 100 units it asks for none, and above it asks, also in a new session", async () => {
    expect(answerOf(await (await opened("100")).ask())).toBe("done");
    scene = await checkoutScene();
    const { ask, subjectId } = await opened("100.01");
    const refused = await ask();
    expect([refused.status, answerOf(refused)]).toEqual([428, "step_up_required"]);
    expect((await prove(refused.problem, subjectId)).status).toBe(200);
    expect(answerOf(await ask())).toBe("done");
  });

  test("its amount counts in the sum of 24 hours of an approval, and an approval counts in its sum", async () => {
    expect(answerOf(await (await opened("60")).ask())).toBe("done");
    const next = await doors["approveCheckout"]!("41");
    expect((await view(next.subjectId, me())).stepUp).toMatchObject({
      reasons: ["amount"],
      limit: { above: "100.00 USDC", lately: "60.00 USDC" },
    });
    expect(answerOf(await next.ask())).toBe("step_up_required");
    scene = await checkoutScene();
    expect(answerOf(await (await doors["approveCheckout"]!("60")).ask())).toBe("done");
    expect(answerOf(await (await opened("41")).ask())).toBe("step_up_required");
    expect(answerOf(await (await opened("40")).ask())).toBe("done");
  });

  test("two at the same moment count each other", async () => {
    const [one, two] = [await opened("60"), await opened("60")];
    const answers = (await Promise.all([one.ask(), two.ask()])).map(answerOf);
    expect(answers.toSorted()).toEqual(["done", "step_up_required"]);
  });

  test("a proof is for one act, and can be used once", async () => {
    const [one, two] = [await opened("150"), await opened("150")];
    const refused = await one.ask();
    expect((await prove(refused.problem, one.subjectId)).status).toBe(200);
    expect(answerOf(await two.ask())).toBe("step_up_required");
    expect(answerOf(await one.ask())).toBe("done");
    expect(answerOf(await two.ask())).toBe("step_up_required");
  });
});

test("the acts of a person that change payments or mandates are doors, or can let no more money through", () => {
  /** They pay within what a door let through: a mandate in force, an approval or a waiver. */
  const spending = [
    "authorizePayment",
    "authorizePayments",
    "executePayment",
    "signSamplePayment",
    "placeOrder",
    "continueCheckout",
  ];
  /** They read, ask, take rights away or give nothing; registerMandate asks for a mandate in force and its wallet's signature. */
  const harmless =
    "cancelCheckout extendCheckout previewCheckout rejectCheckout takeBackApproval checkReadiness createMandate revokeMandate simulateMandate suspendMandate setMandateAlerts registerMandate";
  /** Asks for the same step-up in the unit of the mandate, which has sums of its own (record-payment.test.ts). */
  const inUnits = ["recordPayment"];
  const paths = /^\/api\/v1\/(payments|agent|mandates|sandbox|onchain\/mandates)/;
  const acts = operations.filter(({ method, path }) => method !== "GET" && paths.test(path)).map(({ id }) => id);
  expect(acts.toSorted()).toEqual([...Object.keys(doors), ...spending, ...inUnits, ...harmless.split(" ")].toSorted());
});
