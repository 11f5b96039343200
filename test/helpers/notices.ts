import { eq, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { mails } from "#lib/mail/tables.ts";
import type { NoticeKind } from "#lib/notices/plan-notices.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";
import { ask } from "#test/asking.ts";
import { activeMandate, createBuyer, policy, type Buyer } from "#test/mandates.ts";

/* Requests that wait for a person's approval, and the notices to people about them. */

/** A buyer with a mandate under which a person must approve every payment. */
export async function askingBuyer() {
  const buyer = await createBuyer();
  return { buyer, mandateId: await askingMandate(buyer) };
}

/**
 * Creates a mandate under which a person must approve every payment. The same payment under another mandate opens a new request.
 */
export const askingMandate = (buyer: Buyer): Promise<string> =>
  activeMandate(buyer.person.credential, { policy: { ...policy, approval: { mode: "always" } } });

/** Sends an authorize request as the agent. A person can approve the payment within half an hour. */
export async function openRequest(buyer: Buyer, mandateId: string) {
  const { status, data, problem } = await ask(buyer, mandateId, { expiresAt: new Date(Date.now() + 1_800_000).toISOString() });
  if (status !== 200) throw new Error(problem.detail);
  const { authorizationId, policyDecision } = data;
  const asked = policyDecision.reasons.find(({ effect }) => effect === "approval");
  return { authorizationId, checkoutIntentId: asked?.checkoutIntentId ?? "" };
}

export const noticesOf = (checkoutIntentId: string) =>
  database().select().from(notices).where(eq(notices.checkoutIntentId, checkoutIntentId)).orderBy(notices.dueAt);

/** Makes the notices of this kind due now, except for requests whose notice `opened` still waits. */
export const makeDue = (kind: NoticeKind) =>
  database()
    .update(notices)
    .set({ dueAt: sql`statement_timestamp() - interval '1 second'` })
    .where(
      sql`${notices.kind} = ${kind} AND NOT EXISTS (SELECT FROM notices n
        WHERE n.audit_event_id = ${notices.auditEventId} AND n.kind = 'opened' AND n.status = 'waiting')`,
    );

/** All deliveries by mail: who got which notice about which request for approval. */
export const delivered = () =>
  database()
    .select({
      checkoutIntentId: notices.checkoutIntentId,
      kind: noticeDeliveries.kind,
      recipientId: noticeDeliveries.recipientId,
      to: mails.recipient,
      subject: mails.subject,
      plain: mails.plain,
      mailId: mails.mailId,
      status: mails.status,
    })
    .from(noticeDeliveries)
    .innerJoin(
      notices,
      sql`${notices.auditEventId} = ${noticeDeliveries.auditEventId} AND ${notices.kind} = ${noticeDeliveries.kind}`,
    )
    .innerJoin(mails, eq(mails.mailId, noticeDeliveries.mailId));
