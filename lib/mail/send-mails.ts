import { database } from "#lib/db/client.ts";
import { deleteInBatches } from "#lib/db/delete-in-batches.ts";
import { env } from "#lib/env.ts";
import { provenHosts, workFairly } from "#lib/http/fair-work.ts";
import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { deleteOldMails, endMail, hasDueMail, leaseDueMail, postponeMail, type MailRow } from "#lib/mail/store.ts";
import { LEASE_MS, transport } from "#lib/mail/transport.ts";
import { clock } from "#lib/audit/transact.ts";

const BATCH = 16;
const AT_ONCE = 8;
/** Mails to one recipient, and to one domain whose last mail was taken, that are sent at the same time. */
const EACH = 2;
const OF_DOMAIN = 4;
const ATTEMPTS_MAX = 12;
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 3_600_000;
const KEPT_DAYS = 30;

/** In milliseconds: 15 s, 30 s, 1 min and so on, up to 1 h, so that twelve attempts take about four hours. */
export const pauseAfter = (attempts: number): number => Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (attempts - 1));

/** Called right before a mail is sent: whether the recipient should still get the mail. */
type Wanted = (mailId: string) => Promise<boolean>;

const domains = () => perProcess("mail/send-mails domains", () => provenHosts(OF_DOMAIN));
const domainOf = (recipient: string): string => recipient.slice(recipient.lastIndexOf("@") + 1).toLowerCase();

/** Returns the number of leased mails, at most 16, including those that were not sent. */
export async function sendMails(isWanted: Wanted = () => Promise.resolve(true)): Promise<number> {
  if (mailDelivery() !== "smtp" || !(await hasDueMail())) return 0;
  return workFairly({
    atOnce: AT_ONCE,
    each: EACH,
    batch: BATCH,
    placesOf: domains().placesOf,
    lease: (full) => leaseDueMail(LEASE_MS, full),
    keysOf: ({ recipient }) => ({ owner: recipient, host: domainOf(recipient) }),
    work: (mail) => sendOne(mail, isWanted),
  });
}

async function sendOne(mail: MailRow, isWanted: Wanted): Promise<void> {
  const { mailId, attempts, recipient, subject, plain, html, usefulUntil } = mail;
  if ((usefulUntil !== null && usefulUntil <= (await clock(database()))) || !(await isWanted(mailId))) {
    await endMail(mailId, "failed");
    return;
  }
  try {
    await transport().sendMail({
      to: { name: "", address: recipient },
      subject,
      text: plain,
      html,
      // Every attempt has the same Message-ID, so that the receiving server can recognize a second copy.
      messageId: `<${mailId}@${new URL(env().BASE_URL).hostname}>`,
      headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    });
  } catch (error) {
    domains().note(domainOf(recipient), false);
    await retryOrGiveUp(mailId, attempts, error);
    return;
  }
  domains().note(domainOf(recipient), true);
  await endMail(mailId, "sent");
}

/** A 5xx reply to the sender, recipient or content of this mail is final; any other failure may be temporary. */
const isFinal = (error: unknown): boolean => {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === "number" && responseCode >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");
};

async function retryOrGiveUp(mailId: string, attempts: number, error: unknown): Promise<void> {
  const given = isFinal(error) || attempts >= ATTEMPTS_MAX;
  // The mail server's message may contain the recipient's address, so only its codes are logged.
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  log().warn(
    { mailId, attempts, code, responseCode },
    given ? "A mail was given up" : "A mail could not be sent; it is tried again",
  );
  await (given ? endMail(mailId, "failed") : postponeMail(mailId, pauseAfter(attempts)));
}

export const forgetOldMails = (): Promise<number> => deleteInBatches((rows) => deleteOldMails(KEPT_DAYS, rows));
