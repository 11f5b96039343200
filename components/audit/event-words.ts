/** A type that is not listed is split into its words. */
const words: Readonly<Record<string, string>> = {
  "organization.created": "Organization created",
  "organization.updated": "Organization changed",
  "organization.activated": "Switched to this organization",
  "notices.updated": "Mail or quiet hours changed",
  "device.added": "Messages to a device switched on",
  "device.removed": "Messages to a device switched off",
  "member.invited": "Member invited",
  "member.invitationCanceled": "Invitation canceled",
  "member.joined": "Member joined",
  "member.roleUpdated": "Role changed",
  "member.removed": "Member removed",
  "serviceAccount.created": "Service account created",
  "serviceAccount.rotated": "Key rotated",
  "serviceAccount.revoked": "Service account revoked",
  "serviceAccount.connected": "Program connected",
  "serviceAccount.disconnected": "Program disconnected",
  "serviceAccount.keyHandedOver": "Key given to the command line",
  "agentClient.created": "Program registered",
  "agentClient.removed": "Program removed",
  "webhookEndpoint.created": "Webhook endpoint added",
  "webhookEndpoint.updated": "Webhook endpoint changed",
  "webhookEndpoint.deleted": "Webhook endpoint deleted",
  "webhookEndpoint.disabled": "Webhook endpoint disabled",
  "webhookEndpoint.secretRotated": "Webhook secret rotated",
  "cardConnection.created": "Cards of Stripe connected",
  "cardConnection.updated": "Signing secret of cards changed",
  "cardConnection.ended": "Connection of cards ended",
  "card.mapped": "Card given to a mandate",
  "card.removed": "Card removed",
  "mandate.created": "Mandate drafted",
  "mandate.versioned": "Mandate changed",
  "mandate.alertsUpdated": "Alerts of a mandate changed",
  "mandate.activated": "Mandate activated",
  "mandate.suspended": "Mandate paused",
  "mandate.resumed": "Mandate resumed",
  "mandate.revoked": "Mandate revoked",
  "onchain.mandateRevoked": "Mandate revoked on chain",
  "onchain.mandateRegistrationSubmitted": "Mandate sent to the chain",
  "onchain.mandateRegistrationConfirmed": "Mandate registered on chain",
  "onchain.mandateRegistrationFailed": "Registration on chain failed",
  "payment.authorized": "Payment allowed",
  "payment.denied": "Payment denied",
  "payment.allowedOnce": "Refused payment allowed once",
  "payment.approvalRequired": "Payment needs approval",
  "payment.submitted": "Payment submitted",
  "payment.processing": "Payment is being settled",
  "payment.settled": "Payment settled",
  "payment.recorded": "Part of a payment recorded",
  "payment.exceeded": "More was paid than was held",
  "payment.overdue": "Payment not closed in time",
  "payment.cardExceeded": "More was captured than was held",
  "payment.cardOutside": "Card paid outside the mandate",
  "payment.cardUnconfirmed": "Stripe told nothing of a payment by card",
  "payment.cardClosed": "Question about a payment by card ended",
  "payment.finalized": "Settlement final on chain",
  "payment.reorganized": "Settlement taken back by the chain",
  "payment.failed": "Payment failed",
  "payment.unknown": "Payment outcome unknown",
  "reservation.released": "Hold released",
  "reservation.expired": "Hold expired",
  "reservation.overrun": "Paid after the hold was released",
  "checkout.previewed": "Basket shown",
  "checkout.approved": "Payment approved",
  "serviceAccount.paused": "Agent paused",
  "serviceAccount.resumed": "Agent resumed",
  "checkout.approvalTakenBack": "Approval taken back",
  "checkout.extended": "Request given more time",
  "checkout.rejected": "Payment declined",
  "checkout.superseded": "Basket replaced",
  "continuation.minted": "Continuation issued",
  "continuation.redeemed": "Continuation used",
  "continuation.revoked": "Continuation revoked",
  "seller.created": "Seller registered",
  "seller.verified": "Domain verified",
  "payTo.proven": "Address proven",
  "resource.upserted": "Resource saved",
  "resource.archived": "Resource archived",
  "subscription.assigned": "Plan assigned",
  "auditChain.signed": "Chain signed",
  "auditChain.restored": "Chain of a restored backup accepted",
  "emergency.revoked": "Emergency revocation",
  "platformUser.rolesUpdated": "Platform roles changed",
};

export function eventWords(type: string): string {
  const known = words[type];
  if (known !== undefined) return known;
  const text = type.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(".", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The path to which an event about this entity links; null for types without a link. */
export function pageOf(entityType: string, entityId: string): string | null {
  if (entityType === "mandate") return `/mandates/${entityId}`;
  if (entityType === "authorization") return `/payments/${entityId}`;
  if (entityType === "checkout") return `/checkout/${entityId}`;
  if (entityType === "serviceAccount") return `/settings/keys/${entityId}`;
  if (entityType === "card" || entityType === "cardConnection") return "/settings/cards";
  if (entityType === "webhookEndpoint") return "/settings/webhooks";
  return entityType === "member" || entityType === "invitation" ? "/settings/members" : null;
}
