import { clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { sqlState } from "#lib/db/failure.ts";
import { nameAsker } from "#lib/identity/asker.ts";
import type { Approver } from "#lib/identity/approver-store.ts";
import { subjectNames } from "#lib/identity/subject-name-store.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { mailRow, type Mail } from "#lib/mail/queue-mail.ts";
import { insertMails, type NewMail } from "#lib/mail/store.ts";
import {
  endNotice,
  insertDeliveries,
  postponeNotice,
  selectReaders,
  selectRequests,
  type RequestRow,
} from "#lib/notices/rows/notice-store.ts";
import { noticeBox } from "#lib/notices/outbox-store.ts";
import { dueAt, isStillNews, type PlannedNotice } from "#lib/notices/plan-notices.ts";
import { paceOf, type Pace, type Recent } from "#lib/notices/pace.ts";
import { findStillWanted } from "#lib/notices/rows/wanted-store.ts";
import { recentOf } from "#lib/notices/rows/pace-store.ts";
import { pushRequest } from "#lib/notices/push-requests.ts";
import { digestMail, requestMail } from "#lib/notices/request-mail.ts";
import { handleDue } from "#lib/outbox/handle-due.ts";
import { log } from "#lib/telemetry/log.ts";

const APPROVERS_MAX = 1_000;

/** Returns how many notices ended or were postponed because their requests got more time. */
export const sendNotices = (): Promise<number> =>
  handleDue({ outbox: noticeBox, work: sendSome, failed: "The notices of a request could not be written" });

async function sendSome(tx: Tx, locked: readonly PlannedNotice[]): Promise<void> {
  const requests = await selectRequests(tx, locked);
  const now = await clock(tx);
  const due = await postponeEarly(tx, locked, requests, now);
  for (const notice of due) {
    const request = requests.get(notice.checkoutIntentId);
    const wanted = request && isStillNews(notice, due, request.checkout, now);
    await endNotice(tx, notice, wanted ? await outcomeOf(tx, notice, request, now) : "dropped");
  }
}

/** Postpones notices of requests that got more time, and returns the notices that are still due now. */
async function postponeEarly(
  tx: Tx,
  locked: readonly PlannedNotice[],
  requests: ReadonlyMap<string, RequestRow>,
  now: Date,
): Promise<readonly PlannedNotice[]> {
  const due: PlannedNotice[] = [];
  for (const notice of locked) {
    const request = requests.get(notice.checkoutIntentId);
    const later = request && request.checkout.extendedAt !== null && dueAt(notice.kind, request.checkout);
    if (later && later > now) await postponeNotice(tx, notice, later);
    else due.push(notice);
  }
  return due;
}

/** An error that the database did not raise ends the notice for good, or it would delay the notices after it for ever. */
async function outcomeOf(tx: Tx, notice: PlannedNotice, request: RequestRow, now: Date): Promise<"delivered" | "failed"> {
  try {
    await deliver(tx, notice, request, now);
    await pushRequest(tx, notice, request.checkout, now);
    return "delivered";
  } catch (error) {
    // After a database error the transaction cannot go on. handleDue then tries each request in a transaction of its own.
    if (sqlState(error) !== null) throw error;
    log().error({ checkoutIntentId: notice.checkoutIntentId, kind: notice.kind, err: error }, "A notice could not be written");
    return "failed";
  }
}

/** With SMTP, only confirmed addresses get mail, because an unconfirmed one may belong to another person. */
const isReachable = ({ emailVerified }: Approver): boolean => emailVerified || mailDelivery() !== "smtp";

type Outgoing = {
  readonly mailId: string;
  readonly digest: boolean;
  readonly mail: (NewMail & { readonly sendAt?: Date }) | null;
};

/** Null if mailRow makes no mail. `mail` is null if the request joins a digest that is stored already. */
function outgoing({ email }: Approver, pace: Pace, single: (to: string) => Mail, organization: string): Outgoing | null {
  if (pace.as === "joined") return { mailId: pace.mailId, digest: true, mail: null };
  const digest = pace.as === "digest";
  const mail = mailRow(digest ? digestMail(email, organization) : single(email));
  return mail && { mailId: mail.mailId, digest, mail: digest ? { ...mail, sendAt: pace.sendAt } : mail };
}

const nothing: Recent = { singles: 0, digest: null };

async function deliver(tx: Tx, notice: PlannedNotice, { checkout, organization }: RequestRow, now: Date): Promise<void> {
  const { organizationId, ownerSubjectId } = checkout;
  const { auditEventId, kind } = notice;
  const approvers = (await selectReaders(tx, organizationId, APPROVERS_MAX)).filter(isReachable);
  if (approvers.length === 0) return;
  const subjects = await subjectNames(tx, organizationId, [ownerSubjectId]);
  const namesFor = (userId: string) => ({
    asker: nameAsker(ownerSubjectId, subjects, { ...checkout, userId }),
    organization: organization ?? organizationId,
  });
  const recent = await recentOf(
    tx,
    organizationId,
    approvers.map(({ userId }) => userId),
  );
  const deliveries = approvers.flatMap((approver) => {
    const pace = paceOf(recent.get(approver.userId) ?? nothing, now);
    const names = namesFor(approver.userId);
    const sent = outgoing(approver, pace, (to) => requestMail(to, kind, checkout, names), names.organization);
    if (!sent) return [];
    const { mail, ...one } = sent;
    return [{ mail, row: { auditEventId, kind, recipientId: approver.userId, channel: "mail" as const, ...one } }];
  });
  const created = await insertDeliveries(
    tx,
    deliveries.map(({ row }) => row),
  );
  await insertMails(
    tx,
    deliveries.flatMap(({ mail }) => (mail && created.has(mail.mailId) ? [mail] : [])),
  );
}

/** Asked right before sending, because a mail may have waited for hours; true for a mail that is not about requests. */
export const stillWanted = async (mailId: string): Promise<boolean> => (await findStillWanted(mailId)) ?? true;
