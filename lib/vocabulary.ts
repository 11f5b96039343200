/** Lists of values in the API. Clients must accept values that are added later. */
import { z } from "zod";

const list = <const V extends readonly [string, ...string[]]>(id: string, values: V) => z.enum(values).meta({ id });

export const Environment = list("Environment", ["sandbox", "production"]);
export type Environment = z.infer<typeof Environment>;
export const Outcome = list("Outcome", ["allow", "deny", "requireApproval"]);
export type Outcome = z.infer<typeof Outcome>;

/** In order of precedence: of several reasons to deny a payment, the first in this list is its denialCode. */
export const DenialCode = list("DenialCode", [
  "emergency_stop",
  "mandate_not_active",
  "mandate_suspended",
  "mandate_revoked",
  "mandate_expired",
  "mandate_not_yet_valid",
  "mandate_exhausted",
  "agent_not_bound",
  "agent_inactive",
  "assurance_too_low",
  "intent_expired",
  "intent_invalid",
  "challenge_mismatch",
  "nonce_reused",
  "asset_not_allowed",
  "chain_not_allowed",
  "payee_not_allowed",
  "seller_denied",
  "seller_not_allowed",
  "seller_unverified",
  "domain_not_allowed",
  "resource_not_allowed",
  "protocol_not_allowed",
  "outside_schedule",
  "per_payment_limit_exceeded",
  "period_budget_exceeded",
  "total_budget_exceeded",
  "count_limit_exceeded",
  "cooldown_active",
  "approval_rejected",
  "fee_limit_exceeded",
  "clearance_needed",
]);
export type DenialCode = z.infer<typeof DenialCode>;

/** `expired` and `exhausted` are not stored; they are computed when a mandate is read. */
export const MandateStatus = list("MandateStatus", ["draft", "active", "suspended", "revoked", "expired", "exhausted"]);
export type MandateStatus = z.infer<typeof MandateStatus>;
export type StoredMandateStatus = Exclude<MandateStatus, "expired" | "exhausted">;

export const ApprovalMode = list("ApprovalMode", ["never", "always", "above", "firstPayment"]);
export const UnregisteredSellers = list("UnregisteredSellers", ["deny", "allow"]);
export const Period = list("Period", ["day", "week", "month", "year"]);
export type Period = z.infer<typeof Period>;

/** The currencies in which mandates count, and the kinds of payments that they admit. */
export const Unit = list("Unit", ["USD", "EUR"]);
export type Unit = z.infer<typeof Unit>;
export const Rail = list("Rail", ["x402", "record", "card"]);
export type Rail = z.infer<typeof Rail>;

export const ReservationStatus = list("ReservationStatus", ["held", "submitted", "captured", "released", "expired"]);
export type ReservationStatus = z.infer<typeof ReservationStatus>;

export const LedgerKind = list("LedgerKind", ["hold", "capture", "release", "expire", "overrun", "raise", "refund"]);
export type LedgerKind = z.infer<typeof LedgerKind>;

export const SettlementStatus = list("SettlementStatus", ["pending", "processing", "settled", "failed", "unknown"]);
export type SettlementStatus = z.infer<typeof SettlementStatus>;

/** Whether a mandate of the buyer can pay a checkout, or why none can. */
export const MandateMatch = list("MandateMatch", [
  "active_match",
  "no_mandate",
  "multiple_matches",
  "selected",
  "not_active",
  "expired",
  "revoked",
  "insufficient_budget",
  "seller_not_allowed",
  "asset_mismatch",
  "approval_required",
]);
export type MandateMatch = z.infer<typeof MandateMatch>;

export const CheckoutStatus = list("CheckoutStatus", [
  "previewed",
  "awaiting_approval",
  "approved",
  "authorized",
  "executing",
  "completed",
  "rejected",
  "expired",
  "canceled",
  "failed",
  "superseded",
]);
export type CheckoutStatus = z.infer<typeof CheckoutStatus>;
export const EffectSettlement = list("EffectSettlement", ["none", "authorized", "settled"]);
export type EffectSettlement = z.infer<typeof EffectSettlement>;

export const ApprovalStatus = list("ApprovalStatus", ["pending", "consumed", "expired", "revoked", "rejected"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;
export const ApprovalSurface = list("ApprovalSurface", ["service_hosted_confirmation"]);
export const ContinuationTokenStatus = list("ContinuationTokenStatus", ["active", "redeemed", "expired", "revoked"]);
export type ContinuationTokenStatus = z.infer<typeof ContinuationTokenStatus>;

export const NoticeChannel = list("NoticeChannel", ["mail", "push"]);
/** Whether a mail server or push service has accepted the message about a request for approval. */
export const NotificationStatus = list("NotificationStatus", ["pending", "accepted", "unreachable"]);

export const OrderStatus = list("OrderStatus", [
  "paymentCredentialRequired",
  "approvalRequired",
  "setupRequired",
  "quoteChanged",
  "denied",
  "processing",
  "completed",
  "failed",
]);
export type OrderStatus = z.infer<typeof OrderStatus>;
export const OrderActionType = list("OrderActionType", ["openBrowser", "submitPaymentCredential", "pollStatus", "none"]);
export const EnforcementPath = list("EnforcementPath", ["offchain", "onchain"]);
export type EnforcementPath = z.infer<typeof EnforcementPath>;
/** With `smartAccount`, the buyer's own account pays on the chain, through a contract. */
export const SettlementMode = list("SettlementMode", ["offchainAuthorized", "facilitatorSettled", "smartAccount", "recorded"]);
export type SettlementMode = z.infer<typeof SettlementMode>;
export const ResourceSettlementMode = list("ResourceSettlementMode", ["offchainAuthorized", "facilitatorSettled"]);
export type ResourceSettlementMode = z.infer<typeof ResourceSettlementMode>;
export const PaymentProtocol = list("PaymentProtocol", ["x402", "record", "card"]);
export const PaymentChallengeType = list("PaymentChallengeType", ["x402", "record", "card"]);
export type PaymentChallengeType = z.infer<typeof PaymentChallengeType>;

/** Sorted from the lowest to the highest level. */
export const AssuranceLevel = list("AssuranceLevel", [
  "softwareApproved",
  "passkeyApproved",
  "walletApproved",
  "hardwareApproved",
]);
export type AssuranceLevel = z.infer<typeof AssuranceLevel>;

export const ConfigurationSource = list("ConfigurationSource", ["dashboard", "api", "demo"]);

export const ProductRole = list("ProductRole", ["buyer", "seller"]);
export type ProductRole = z.infer<typeof ProductRole>;
export const MembershipRole = list("MembershipRole", ["owner", "admin", "approver", "developer", "finance", "viewer"]);
export type MembershipRole = z.infer<typeof MembershipRole>;
export const InvitationStatus = list("InvitationStatus", ["pending", "canceled"]);
export const PlatformRole = list("PlatformRole", ["user", "support", "auditor", "operator", "admin"]);
export type PlatformRole = z.infer<typeof PlatformRole>;

export const Capability = list("Capability", [
  "mandates:read",
  "mandates:create",
  "mandates:manage",
  "mandates:revoke",
  "payments:authorize",
  "payments:execute",
  "payments:record",
  "payments:read",
  "payments:settle",
  "readiness:read",
  "checkouts:preview",
  "checkouts:read",
  "checkouts:approve",
  "orders:place",
  "sellers:read",
  "sellers:manage",
  "resources:manage",
  "billing:quote",
  "billing:read",
  "serviceAccounts:read",
  "serviceAccounts:manage",
  "members:manage",
  "audit:read",
  "webhooks:manage",
]);
export type Capability = z.infer<typeof Capability>;

export const PlatformCapability = list("PlatformCapability", [
  "platform.users.read",
  "platform.users.ban",
  "platform.roles.update",
  "platform.sessions.revoke",
  "platform.emergency.revoke",
  "platform.feeSchedules.manage",
  "platform.subscriptions.manage",
  "platform.sellers.verify",
  "platform.audit.read",
]);
export type PlatformCapability = z.infer<typeof PlatformCapability>;

export const PlanTier = list("PlanTier", ["developer", "team", "business", "enterprise"]);
export const SubscriptionStatus = list("SubscriptionStatus", [
  "trialing",
  "active",
  "past_due",
  "paused",
  "canceled",
  "expired",
  "incomplete",
]);
export const FeeScheduleStatus = list("FeeScheduleStatus", ["active", "draft", "scheduled", "superseded", "archived"]);
export const FeePayer = list("FeePayer", ["buyer", "seller", "split"]);
export type FeePayer = z.infer<typeof FeePayer>;

export const Category = list("Category", [
  "buyer_action_required",
  "seller_action_required",
  "agent_action_required",
  "operator_action_required",
  "approval_required",
  "policy_denied",
  "validation_error",
  "authentication_error",
  "permission_error",
  "not_found",
  "conflict",
  "rate_limited",
  "payment_failed",
  "settlement_unknown",
  "provider_unavailable",
  "configuration_error",
  "internal_error",
]);
export type Category = z.infer<typeof Category>;

export const Actor = list("Actor", ["buyer", "agent", "seller", "operator", "provider", "network", "service"]);
export type Actor = z.infer<typeof Actor>;

export const NextActionType = list("NextActionType", [
  "fund_wallet",
  "approve_checkout",
  "create_mandate",
  "select_mandate",
  "raise_mandate_limit",
  "renew_mandate",
  "resume_mandate",
  "delegate_wallet",
  "register_mandate_onchain",
  "connect_wallet",
  "sign_credential",
  "retry_later",
  "refresh_quote",
  "use_other_seller",
  "verify_seller",
  "fix_storefront",
  "sign_in",
  "step_up",
  "switch_organization",
  "request_capability",
  "poll_status",
  "contact_support",
  "correct_request",
]);
export type NextActionType = z.infer<typeof NextActionType>;

export const ReadinessStatus = list("ReadinessStatus", ["ready", "actionRequired", "blocked"]);
export type ReadinessStatus = z.infer<typeof ReadinessStatus>;
export const ReadinessCheckStatus = list("ReadinessCheckStatus", ["ready", "actionRequired", "blocked", "skipped", "unknown"]);
export type ReadinessCheckStatus = z.infer<typeof ReadinessCheckStatus>;

/** Sorted as the API returns them. */
export const ReadinessKey = list("ReadinessKey", [
  "serviceAvailable",
  "emergencyClear",
  "mandateExists",
  "mandateActive",
  "mandateAgentBound",
  "mandateBudget",
  "mandateSellerAllowed",
  "mandateResourceAllowed",
  "mandateAssetAllowed",
  "mandateSchedule",
  "assuranceLevel",
  "approvalNeeded",
  "storefrontReachable",
  "storefrontManifest",
  "storefrontItems",
  "sellerRegistered",
  "sellerVerified",
  "resourceRegistered",
  "paymentChallengeSupported",
  "paymentChallengeMatchesQuote",
  "paymentMode",
  "tokenMetadata",
  "walletConnected",
  "walletBalance",
  "walletDelegated",
  "onchainDeployment",
  "onchainMandateRegistered",
  "feeQuote",
]);
export type ReadinessKey = z.infer<typeof ReadinessKey>;
