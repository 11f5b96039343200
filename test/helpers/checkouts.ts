import { eq, sql } from "drizzle-orm";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { approveCheckout } from "#lib/commerce/approve-checkout.ts";
import { cancelCheckout } from "#lib/commerce/cancel-checkout.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { extendCheckout } from "#lib/commerce/extend-checkout.ts";
import { getCheckout } from "#lib/commerce/get-checkout.ts";
import { previewCheckout } from "#lib/commerce/preview-checkout.ts";
import { rejectCheckout } from "#lib/commerce/reject-checkout.ts";
import { takeBackApproval } from "#lib/commerce/take-back-approval.ts";
import { viewCheckout } from "#lib/pages/buyer/view-checkout.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import * as steps from "#lib/approvals/decision/contract.ts";
import { stepUp } from "#lib/approvals/decision/step-up.ts";
import { session } from "#lib/identity/tables.ts";
import type { HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey, newOrganization, PASSWORD, type Owner } from "#test/identity.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { send, type Credential } from "#test/tenant.ts";

export const items = [{ productId: "tee", variantId: "tee-m", quantity: 2 }];
const limits = { perPayment: "100", budgets: [{ period: "day", timezone: "UTC", amount: "500" }] };
/** The policy of a mandate: 100 USDC per payment and 500 per day, to any seller. */
export const open = { assets, limits, sellers: { unregistered: "allow" } };

/** A buyer who has signed up, with an agent and with a mandate that pays shops which are not registered. */
export async function checkoutScene({ mandate = {} }: { readonly mandate?: Record<string, unknown> } = {}) {
  const person = await newOrganization();
  const agent = await newKey(person);
  const mandateId = await activeMandate(person.credential, { policy: open, ...mandate });
  return { person, agent, mandateId };
}
export type CheckoutScene = Awaited<ReturnType<typeof checkoutScene>>;

let count = 0;

export const preview = (shop: HostileStorefront, as: Credential, body: Record<string, unknown> = {}) =>
  send(contract.previewCheckout, previewCheckout, {
    as,
    body: { storefrontUrl: shop.url, items, idempotencyKey: `preview-${++count}-${Date.now()}`, ...body },
  });

export async function previewed(shop: HostileStorefront, as: Credential, body: Record<string, unknown> = {}): Promise<string> {
  const { status, data, problem } = await preview(shop, as, body);
  if (status !== 201) throw new Error(JSON.stringify(problem));
  return data.intent.checkoutIntentId;
}

export const read = (checkoutIntentId: string, as: Credential, query = "") =>
  send(contract.getCheckout, getCheckout, { as, id: checkoutIntentId, query });
export const approve = (checkoutIntentId: string, as: Credential, body: Record<string, unknown> = {}, key?: string) =>
  send(contract.approveCheckout, approveCheckout, { as, id: checkoutIntentId, body, ...(key !== undefined && { key }) });
export const reject = (checkoutIntentId: string, as: Credential, body: Record<string, unknown> = {}, key?: string) =>
  send(contract.rejectCheckout, rejectCheckout, { as, id: checkoutIntentId, body, ...(key !== undefined && { key }) });
export const extend = (checkoutIntentId: string, as: Credential, key?: string) =>
  send(contract.extendCheckout, extendCheckout, { as, id: checkoutIntentId, body: {}, ...(key !== undefined && { key }) });
export const takeBack = (checkoutIntentId: string, as: Credential, key?: string) =>
  send(contract.takeBackApproval, takeBackApproval, {
    as,
    id: checkoutIntentId,
    body: {},
    ...(key !== undefined && { key }),
  });
export const cancel = (checkoutIntentId: string, as: Credential, key?: string) =>
  send(contract.cancelCheckout, cancelCheckout, { as, id: checkoutIntentId, body: {}, ...(key !== undefined && { key }) });
export const confirmPassword = (checkoutIntentId: string, as: Credential, password = PASSWORD) =>
  send(steps.stepUp, stepUp, { as, body: { checkoutIntentId, password } });

/** The caller to which a session cookie belongs. */
export async function callerOf(as: Credential): Promise<SessionCaller> {
  const caller = await authenticate(new Request(env().BASE_URL, { headers: as }));
  if (caller?.kind !== "session") throw new Error("This is no session.");
  return caller;
}

/** Opens the confirmation page. */
export const view = async (checkoutIntentId: string, as: Credential) => viewCheckout({ checkoutIntentId }, await callerOf(as));

/** Opens the page and confirms the password, which a first payment to a seller needs. */
export async function reviewed(checkoutIntentId: string, { credential }: Pick<Owner, "credential">): Promise<void> {
  await view(checkoutIntentId, credential);
  const { status, problem } = await confirmPassword(checkoutIntentId, credential);
  if (status !== 200) throw new Error(JSON.stringify(problem));
}

/** Moves the beginning of all the person's sessions to `minutes` ago. */
export async function ageSession(userId: string, minutes: number): Promise<void> {
  const createdAt = new Date(Date.now() - minutes * 60_000);
  await database().update(session).set({ createdAt }).where(eq(session.userId, userId));
}

/** Moves the creation of all the agent's requests for approval to `minutes` ago. */
export const ageRequests = (ownerSubjectId: string, minutes: number) =>
  database()
    .update(checkoutIntents)
    .set({ createdAt: sql`statement_timestamp() - ${minutes} * interval '1 minute'` })
    .where(eq(checkoutIntents.ownerSubjectId, ownerSubjectId));

export const expire = (checkoutIntentId: string) =>
  database()
    .update(checkoutIntents)
    .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
