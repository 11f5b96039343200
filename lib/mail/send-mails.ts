import { env } from "#lib/env.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { mailbox, PAUSE_MAX_MS, readers, type MailRow } from "#lib/mail/store.ts";
import { MAIL_LEASE_MS, transport } from "#lib/mail/transport.ts";
import { sendDue, type Sent } from "#lib/outbox/send-due.ts";

/** Mails to one recipient, and to one domain whose last mail was taken, that are sent at the same time. */
const pace = { batch: 16, atOnce: 8, each: 2, ofHost: 4, leaseMs: MAIL_LEASE_MS, attemptsMax: 12 } as const;
const PAUSE_MS = 15_000;

/** In milliseconds: 15 s, 30 s, 1 min and so on, up to 1 h, so that twelve attempts take about four hours. */
export const mailPauseAfter = (attempts: number): number => Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (attempts - 1));

/** Called right before a mail is sent: whether the recipient should still get the mail. */
type Wanted = (mailId: string) => Promise<boolean>;

/** Returns the number of leased mails, at most 16, including those that were not sent. */
export async function sendMails(isWanted: Wanted = () => Promise.resolve(true)): Promise<number> {
  if (mailDelivery() !== "smtp") return 0;
  const send = (mail: MailRow) => sendOne(mail, isWanted);
  return sendDue({ outbox: mailbox, receivers: readers, accepted: "sent", ...pace, pauseAfter: mailPauseAfter, send });
}

async function sendOne({ mailId, recipient, subject, plain, html }: MailRow, isWanted: Wanted): Promise<Sent> {
  if (!(await isWanted(mailId))) return { outcome: "unwanted" };
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
    return { outcome: "accepted" };
  } catch (error) {
    return failure(error as { readonly responseCode?: unknown; readonly code?: unknown });
  }
}

/**
 * A 5xx reply to the sender, recipient or content of this mail is final; any other failure may be temporary. The mail server's
 * message may contain the recipient's address, so only its codes are logged.
 */
function failure({ responseCode, code }: { readonly responseCode?: unknown; readonly code?: unknown }): Sent {
  const isFinal = typeof responseCode === "number" && responseCode >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");
  return { outcome: isFinal ? "refused" : "unanswered", facts: { code, responseCode } };
}
