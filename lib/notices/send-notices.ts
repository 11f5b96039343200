import { clock } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { selectApprovers, type Approver } from "#lib/identity/approver-store.ts";
import { subjectNames } from "#lib/identity/sessions/subject-name-store.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { mailRow } from "#lib/mail/queue-mail.ts";
import { insertMails, type NewMail } from "#lib/mail/store.ts";
import {
  endNotices,
  insertDeliveries,
  lockDueNotices,
  selectRequests,
  type Delivery,
  type RequestRow,
} from "#lib/notices/notice-store.ts";
import { isDelivered, type PlannedNotice } from "#lib/notices/plan-notices.ts";
import { requestMail } from "#lib/notices/request-mail.ts";

/** Few, because one transaction writes the mails to all approvers of these requests. */
const NOTICES = 10;
const APPROVERS_MAX = 1_000;

/** Delivers the notices that are due to the people who may approve now. Returns how many notices ended. */
export async function sendNotices(): Promise<number> {
  let ended = 0;
  for (;;) {
    const count = await sendSome();
    ended += count;
    if (count < NOTICES) return ended;
  }
}

const sendSome = (): Promise<number> =>
  database().transaction(async (tx) => {
    const due = await lockDueNotices(tx, NOTICES);
    if (due.length === 0) return 0;
    const requests = await selectRequests(tx, due);
    const now = await clock(tx);
    const asked = (notice: PlannedNotice) => requests.get(notice.checkoutIntentId);
    const delivered = due.filter((notice) => isDelivered(notice, due, asked(notice)?.checkout, now));
    for (const notice of delivered) await deliver(tx, notice, asked(notice)!);
    await endNotices(tx, delivered, "delivered");
    await endNotices(
      tx,
      due.filter((notice) => !delivered.includes(notice)),
      "dropped",
    );
    return due.length;
  });

type NewDelivery = { readonly delivery: Delivery; readonly mail: NewMail };

/** An address that nobody confirmed may be another person's. In a sandbox without SMTP, no mail leaves the service. */
const isReachable = ({ emailVerified }: Approver): boolean => emailVerified || mailDelivery() !== "smtp";

async function deliver(tx: Tx, notice: PlannedNotice, { checkout, organization }: RequestRow): Promise<void> {
  const { organizationId, ownerSubjectId } = checkout;
  const approvers = (await selectApprovers(tx, organizationId, APPROVERS_MAX)).filter(isReachable);
  const subjects = await subjectNames(tx, organizationId, [ownerSubjectId]);
  const names = { agent: subjects.get(ownerSubjectId) ?? ownerSubjectId, organization: organization ?? organizationId };
  const deliveries = approvers.flatMap(({ userId, email }): NewDelivery[] => {
    const mail = mailRow(requestMail(email, notice.kind, checkout, names));
    if (!mail) return [];
    const { auditEventId, kind } = notice;
    return [{ delivery: { auditEventId, kind, recipientId: userId, channel: "mail", mailId: mail.mailId }, mail }];
  });
  const created = await insertDeliveries(
    tx,
    deliveries.map(({ delivery }) => delivery),
  );
  await insertMails(
    tx,
    deliveries.flatMap(({ mail }) => (created.has(mail.mailId) ? [mail] : [])),
  );
}
