/** Browsers load this file too, so it imports no server code. */
import { z } from "zod";
import { Id } from "#lib/ids.ts";
import { AmountText } from "#lib/amount-text.ts";
import { AssetSymbol, ChainName } from "#lib/evm.ts";
import { Timestamp } from "#lib/time.ts";
import {
  EnforcementPath,
  FeePayer,
  FeeScheduleStatus,
  PaymentChallengeType,
  PaymentProtocol,
  PlanTier,
  SettlementMode,
  SubscriptionStatus,
} from "#lib/vocabulary.ts";

const Metadata = z.record(z.string().max(128), z.unknown());
const Volume = z
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ description: "Whole units of the asset that a buyer pays in a UTC month without a fee." });

export const AskedFeeQuote = z
  .strictObject({
    amount: AmountText,
    asset: AssetSymbol,
    settlementMode: SettlementMode,
    enforcementPath: EnforcementPath.optional(),
    paymentProtocol: PaymentProtocol.optional(),
    paymentChallengeType: PaymentChallengeType.optional(),
    chain: ChainName.optional().meta({ description: "Default: the chain of the resource, or the installation's only chain." }),
    sellerId: Id.optional(),
    resourceId: Id.optional(),
    sellerOrganizationId: Id.optional(),
    feePayer: FeePayer.optional().meta({
      description: "The payer that the caller expects. If another one pays the fee, the answer is 422.",
    }),
    metadata: Metadata.optional(),
  })
  .meta({ id: "AskedFeeQuote" });
export type AskedFeeQuote = z.output<typeof AskedFeeQuote>;

const schedule = {
  name: z.string().trim().min(1).max(120),
  buyerOrganizationId: Id.optional(),
  sellerOrganizationId: Id.optional(),
  planTier: PlanTier.optional(),
  settlementMode: SettlementMode.optional(),
  chain: ChainName.optional(),
  asset: AssetSymbol.optional(),
  minimumFeeAmount: AmountText.optional(),
  maximumFeeAmount: AmountText.optional(),
  effectiveUntil: Timestamp.optional(),
  metadata: Metadata.optional(),
};
const bps = z.int().min(0).max(10_000).meta({ description: "Hundredths of a percent of the payment." });
const recipient = z.string().min(1).max(128).meta({ description: "Who records the fee." });

export const SaveFeeSchedule = z
  .strictObject({
    ...schedule,
    status: FeeScheduleStatus.default("active"),
    feePayer: FeePayer.default("buyer"),
    feeRecipient: recipient.default("service"),
    percentageBps: bps.default(0),
    flatAmount: AmountText.default("0"),
    includedMonthlyVolume: Volume.default(0),
    effectiveFrom: Timestamp.optional().meta({ description: "Default: now for a new schedule; unchanged for an existing one." }),
    feeScheduleId: Id.optional().meta({ description: "The schedule to replace. Default: a new one." }),
  })
  .meta({ id: "SaveFeeSchedule" });
export type SaveFeeSchedule = z.output<typeof SaveFeeSchedule>;

export const FeeSchedule = z
  .object({
    feeScheduleId: z.string(),
    ...schedule,
    status: FeeScheduleStatus,
    feePayer: FeePayer,
    feeRecipient: recipient,
    percentageBps: bps,
    flatAmount: AmountText,
    includedMonthlyVolume: Volume,
    effectiveFrom: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "FeeSchedule", description: "What the service charges, and for which payments." });
export type FeeSchedule = z.input<typeof FeeSchedule>;

export const Fee = z
  .object({
    feeId: z.string(),
    authorizationId: z.string(),
    side: z.enum(["buyer", "seller"]),
    amount: z.string(),
    asset: z.string(),
    kind: z.enum(["accrual"]),
    createdAt: Timestamp,
  })
  .meta({ id: "Fee", description: "A debt to the service from one captured payment. No fee moves on chain." });
export type Fee = z.input<typeof Fee>;

export const AssignSubscription = z
  .strictObject({
    organizationId: Id,
    planId: Id.optional().meta({ description: "Default: the tier's name." }),
    tier: PlanTier.default("developer"),
    status: SubscriptionStatus.default("active"),
    currentPeriodStart: Timestamp.optional().meta({ description: "Default: now." }),
    currentPeriodEnd: Timestamp.optional().meta({ description: "Default: one month after the start." }),
    metadata: Metadata.optional(),
  })
  .meta({ id: "AssignSubscription" });
export type AssignSubscription = z.output<typeof AssignSubscription>;

export const Subscription = z
  .object({
    subscriptionId: z.string(),
    organizationId: z.string(),
    planId: z.string(),
    tier: PlanTier,
    status: SubscriptionStatus,
    currentPeriodStart: Timestamp,
    currentPeriodEnd: Timestamp,
    billingProvider: z.enum(["service"]),
    externalCustomerId: z.string().optional(),
    externalSubscriptionId: z.string().optional(),
    metadata: Metadata.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "Subscription", description: "An organization's plan." });
export type Subscription = z.input<typeof Subscription>;
