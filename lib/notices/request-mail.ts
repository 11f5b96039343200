import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { askerText, type Asker } from "#lib/identity/asker.ts";
import { quoted, timeInMail } from "#lib/mail/compose.ts";
import type { Mail } from "#lib/mail/queue-mail.ts";
import { displayAmount } from "#lib/money.ts";
import type { NoticeKind } from "#lib/notices/plan-notices.ts";

const subjects: Readonly<Record<NoticeKind, (amount: string) => string>> = {
  opened: (amount) => `${amount} waits for your approval`,
  halfTime: (amount) => `Reminder: ${amount} still waits for your approval`,
  lastMinutes: (amount) => `Last reminder: ${amount} waits for your approval`,
};

const action = { label: "Look at the requests that wait", path: "/approvals" } as const;
const note =
  "You get this because you may approve payments of this organization. A link in a mail never approves a payment: you sign in and decide there.";

export type RequestNames = { readonly asker: Asker; readonly organization: string };
type Asked = Pick<CheckoutRow, "amount" | "tokenDecimals" | "asset" | "domain" | "expiresAt">;

const whose = ({ isServiceAccount }: Asker, organization: string): string =>
  isServiceAccount
    ? `It is an agent of ${quoted(organization)}.`
    : `A person of ${quoted(organization)} asks for it, and no agent does.`;

/** The mail contains no free text of the agent or the seller, and opening its link approves nothing. */
export function requestMail(to: string, kind: NoticeKind, request: Asked, { asker, organization }: RequestNames): Mail {
  const amount = displayAmount(request.amount, request.tokenDecimals, request.asset);
  return {
    to,
    subject: subjects[kind](amount),
    paragraphs: [
      `${askerText(asker, quoted)} asks to pay ${amount} to ${quoted(request.domain)}. ${whose(asker, organization)}`,
      `The request expires on ${timeInMail(request.expiresAt)}. Nothing is paid before someone approves it.`,
    ],
    action,
    note,
    usefulUntil: request.expiresAt,
  };
}

/** The mail for further requests after several mails about single ones. It names no request and links to the list. */
export const digestMail = (to: string, organization: string): Mail => ({
  to,
  subject: "More payments wait for your approval",
  paragraphs: [
    `More payments of ${quoted(organization)} wait than we mail one by one. The list shows all requests that wait, with payee, amount and expiry.`,
    "If an agent asks too often, you can suspend its mandate or revoke its key.",
  ],
  action,
  note,
});
