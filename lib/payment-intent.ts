/* The JSON schemas of a payment in the API. Browsers load this file too, so it imports no server code. */
import { z } from "zod";
import { Call } from "#lib/call-schema.ts";
import { Address, AssetSymbol, ChainName } from "#lib/evm.ts";
import { ClientId } from "#lib/ids.ts";
import { AmountText } from "#lib/amount-text.ts";
import { Timestamp } from "#lib/time.ts";
import { DenialCode, EnforcementPath, Outcome, PaymentChallengeType, PaymentProtocol, SettlementMode } from "#lib/vocabulary.ts";

const FreeForm = z.record(z.string(), z.unknown());

const AskedPricing = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("fixed"), amount: AmountText, asset: AssetSymbol }),
    z.strictObject({ type: z.literal("quoted"), asset: AssetSymbol, maxAmount: AmountText.optional() }),
  ])
  .meta({ id: "AskedPricing" });

/** The seller as the agent describes it. For a registered seller, the decision uses the registered record instead. */
export const AskedSeller = z
  .strictObject({ sellerId: ClientId.optional(), name: z.string().max(200).optional(), domain: z.string().max(260).optional() })
  .meta({ id: "AskedSeller", description: "The seller as the agent knows it. It is compared with the registered record." });

export const AskedResource = z
  .strictObject({
    resourceId: ClientId,
    sellerId: ClientId.optional(),
    method: z.string().max(16).optional(),
    pathTemplate: z.string().max(1024).optional(),
    pricing: AskedPricing.optional(),
    acceptedPaymentChallengeTypes: z.array(z.string().max(32)).max(8).optional(),
  })
  .meta({ id: "AskedResource", description: "The resource as the agent knows it. It is compared with the registered record." });

const PayeeAccount = z
  .strictObject({ kind: z.enum(["iban", "email", "account"]), value: z.string().trim().min(1).max(200) })
  .meta({ id: "PayeeAccount", description: "Where a payment that is made elsewhere goes. Shown with only a few characters." });

const Reference = z
  .string()
  .trim()
  .min(1)
  .max(140)
  .regex(/^[^\p{Cc}]+$/u, "Write the reference on one line.")
  .meta({
    description: "Of a payment that is made elsewhere, such as the number of an invoice. Each payee has each reference once.",
  });

/** The payment intent that an agent sends. Fields that only the service sets (feeQuote, settlementMode, …) are refused. */
export const AskedIntent = z
  .strictObject({
    intentId: ClientId.optional().meta({ description: "The intent's own id. Default: the idempotency key." }),
    enforcementPath: EnforcementPath.default("offchain"),
    paymentChallengeType: PaymentChallengeType.exclude(["card"]).default("x402"),
    seller: AskedSeller,
    resource: AskedResource.optional(),
    amount: AmountText,
    asset: AssetSymbol,
    chain: ChainName.optional(),
    payTo: Address.optional(),
    payee: PayeeAccount.optional(),
    reference: Reference.optional(),
    challenge: FreeForm.optional(),
    metadata: FreeForm.optional().meta({
      description:
        "Free-form; it does not affect the decision. A person who is asked sees its `purpose`, up to 140 characters, as the agent's own words.",
    }),
    expiresAt: Timestamp,
    nonce: ClientId.optional().meta({ description: "Valid once under a mandate. Default: the idempotency key." }),
    idempotencyKey: ClientId.optional(),
    createdAt: Timestamp.optional(),
  })
  .meta({ id: "AskedIntent", description: "The payment that an agent asks for." });
export type AskedIntent = Omit<z.output<typeof AskedIntent>, "paymentChallengeType"> & {
  readonly paymentChallengeType: PaymentChallengeType;
};

const CardUse = z
  .object({
    connectionId: z.string(),
    cardId: z.string(),
    stripeAuthorizationId: z.string(),
    category: z.string(),
    country: z.string().optional(),
    merchant: z.string(),
  })
  .meta({ id: "CardUse", description: "The card that pays and the merchant, in Stripe's words." });

/**
 * An intent with an intentId and a nonce. If the agent leaves one of them out, the idempotency key is used for it. Agents ask for no
 * payment by card: Stripe does.
 */
export type NamedIntent = AskedIntent & {
  readonly intentId: string;
  readonly nonce: string;
  readonly card?: z.infer<typeof CardUse>;
};

/** Whether a payment answers a 402. Others are made elsewhere: recorded, or by card. */
export const has402 = ({ paymentChallengeType }: Pick<NamedIntent, "paymentChallengeType">): boolean =>
  paymentChallengeType === "x402";

export const Reason = z
  .object({
    code: z.string(),
    rule: z.string(),
    effect: z.enum(["allow", "deny", "approval", "info"]),
    message: z.string(),
    href: z.string().optional().meta({ description: "The page where a person is asked. Show it to the buyer." }),
    checkoutIntentId: z.string().optional().meta({ description: "The checkout in which a person is asked." }),
    pollWith: Call.optional().meta({ description: "Answers once the buyer has decided, and at the latest after 30 seconds." }),
    next: Call.optional().meta({
      description: "The next call after the buyer has approved. Without a credential its answer says what to sign.",
    }),
    authorizationId: z.string().optional().meta({
      description: "With the code request_repeated: the authorization of the first request for the same payment.",
    }),
    resumable: z.boolean().optional().meta({
      description: "Whether the caller may pay under that authorization once a person has approved it.",
    }),
    pointer: z.string().optional(),
    limit: z.string().optional(),
    used: z.string().optional(),
    requested: z.string().optional(),
    remaining: z.string().optional(),
    unit: z.string().optional(),
    window: z
      .object({
        kind: z.enum(["calendar", "rolling", "lifetime"]),
        start: z.string().optional(),
        end: z.string().optional(),
        timezone: z.string().optional(),
      })
      .optional(),
    policyVersion: z.number().int(),
  })
  .meta({ id: "Reason", description: "One rule that was evaluated, with its result." });

export const PolicyDecision = z
  .object({
    policyDecisionId: z.string(),
    mandateId: z.string(),
    intentId: z.string(),
    outcome: Outcome,
    reasons: z.array(Reason),
    denialCode: DenialCode.optional(),
    reservationId: z.string().optional(),
    createdAt: Timestamp,
  })
  .meta({ id: "PolicyDecision", description: "The decision of the mandate's policy about one intent, with its reasons." });

export const Authorization = z
  .object({ authorizationId: z.string(), policyDecision: PolicyDecision, expiresAt: Timestamp })
  .meta({
    id: "Authorization",
    description: "The answer to an authorize request. If the outcome is allow, it can be used until expiresAt.",
  });
export type Authorization = z.input<typeof Authorization>;

export const FeeQuote = z
  .object({
    feeQuoteId: z.string(),
    feeScheduleId: z.string(),
    buyerOrganizationId: z.string(),
    sellerOrganizationId: z.string().optional(),
    settlementMode: SettlementMode,
    enforcementPath: EnforcementPath,
    paymentProtocol: PaymentProtocol,
    paymentChallengeType: PaymentChallengeType,
    chain: z.string(),
    asset: z.string(),
    grossAmount: z.string(),
    sellerNetAmount: z.string(),
    serviceFeeAmount: z.string(),
    providerFeeAmount: z.string(),
    networkFeeAmount: z.string(),
    feePayer: z.string(),
    feeRecipient: z.string(),
    feeScheduleHash: z.string(),
    expiresAt: Timestamp,
    createdAt: Timestamp,
    metadata: FreeForm.optional(),
  })
  .meta({ id: "FeeQuote", description: "What the service charges for one payment, and who pays it." });
export type FeeQuote = z.input<typeof FeeQuote>;

/** The intent as decided: the agent's fields, the registered data of seller and resource, and fields that the service sets. */
export const PaymentIntent = z
  .object({
    intentId: z.string(),
    enforcementPath: EnforcementPath,
    paymentProtocol: PaymentProtocol,
    paymentChallengeType: PaymentChallengeType,
    settlementMode: SettlementMode,
    seller: z.object({
      sellerId: z.string().optional(),
      name: z.string().optional(),
      domain: z.string().optional(),
      verified: z.boolean().optional(),
      minimumAssuranceLevel: z.string().optional(),
    }),
    resource: z
      .object({
        resourceId: z.string(),
        sellerId: z.string().optional(),
        method: z.string().optional(),
        pathTemplate: z.string().optional(),
        description: z.string().optional(),
        pricing: z
          .object({ type: z.string(), amount: z.string().optional(), maxAmount: z.string().optional(), asset: z.string() })
          .optional(),
        acceptedPaymentChallengeTypes: z.array(z.string()).optional(),
      })
      .optional(),
    amount: z.string(),
    asset: z.string(),
    chain: z.string(),
    payTo: z.string().optional(),
    payee: PayeeAccount.optional(),
    reference: z.string().optional(),
    card: CardUse.optional(),
    feeQuote: FeeQuote,
    challenge: FreeForm.optional(),
    credentialRequirements: FreeForm.optional(),
    metadata: FreeForm.optional(),
    expiresAt: Timestamp,
    nonce: z.string(),
    idempotencyKey: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: "PaymentIntent", description: "A payment with its decision." });
export type PaymentIntent = z.input<typeof PaymentIntent>;
