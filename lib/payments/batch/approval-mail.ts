import { chargedFor, type ApprovalRow, type CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { quoted, timeInMail } from "#lib/mail/compose.ts";
import type { Mail } from "#lib/mail/queue-mail.ts";
import { displayAmount } from "#lib/money.ts";

/** The link only opens a page and changes nothing, because mail scanners open links too. */
export function approvalMail(to: string, checkout: CheckoutRow, { mandateId, assuranceLevel, expiresAt }: ApprovalRow): Mail {
  const amount = displayAmount(chargedFor(checkout), checkout.tokenDecimals, checkout.asset);
  const how = assuranceLevel === "passkeyApproved" ? " You signed it with a passkey." : "";
  return {
    to,
    subject: `You approved ${amount}`,
    paragraphs: [
      `You approved ${amount} to ${quoted(checkout.domain)}.${how} The approval can be used until ${timeInMail(expiresAt)}.`,
      "To stop it, revoke or suspend the mandate: a payment that was not sent yet is then canceled.",
    ],
    action: { label: "Look at the mandate", path: `/mandates/${mandateId ?? ""}` },
    note: "You get this because your account approved a payment. If it was not you, revoke the mandate, change your password and end your other sessions.",
  };
}
