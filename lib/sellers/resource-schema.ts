/** The wire shapes of sellers and their resources, shared by their operations. Browser-safe. */
import { z } from "zod";
import { Address, AssetSymbol, ChainName } from "#lib/evm.ts";
import { ClientId, Id } from "#lib/ids.ts";
import { AmountText } from "#lib/amount-text.ts";
import { PathTemplate } from "#lib/sellers/registry/path-template.ts";
import { AssuranceLevel, ConfigurationSource, PaymentChallengeType, ResourceSettlementMode } from "#lib/vocabulary.ts";

export const Seller = z
  .object({
    sellerId: z.string(),
    name: z.string(),
    domain: z.string(),
    verified: z.boolean(),
    minimumAssuranceLevel: AssuranceLevel,
  })
  .meta({ id: "Seller", description: "Who is paid." });
export type Seller = z.input<typeof Seller>;

export const RegisterSeller = z
  .strictObject({
    name: z.string().trim().min(1).max(120),
    domain: z
      .string()
      .max(253)
      .meta({ description: "The host of the seller's resources, without scheme and path.", examples: ["data.example.com"] }),
    minimumAssuranceLevel: AssuranceLevel.optional(),
  })
  .meta({ id: "RegisterSeller" });

export const Pricing = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("fixed"), amount: AmountText, asset: AssetSymbol }),
    z.strictObject({ type: z.literal("quoted"), asset: AssetSymbol, maxAmount: AmountText.optional() }),
  ])
  .meta({ id: "Pricing", description: "The price of one call: a fixed amount, or the amount in the seller's 402." });
export type Pricing = z.output<typeof Pricing>;

const Method = z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).meta({ id: "ResourceMethod" });

const AskedPaymentConfig = z
  .strictObject({
    chain: ChainName.optional().meta({ description: "Where the seller is paid. Default: the installation's only chain." }),
    payTo: Address,
    settlementMode: ResourceSettlementMode.default("offchainAuthorized"),
    facilitatorUrl: z.string().max(2048).optional().meta({
      description:
        "One of the facilitators that the installation has configured. Default: the service settles the payment itself.",
    }),
    maxTimeoutSeconds: z.int().min(60).max(3600).default(300),
  })
  .meta({ id: "AskedPaymentConfig", description: "How the seller is paid. A resource without it cannot be paid yet." });

const PaymentConfig = z
  .object({
    chain: z.string(),
    payTo: z.string(),
    settlementMode: ResourceSettlementMode,
    facilitatorUrl: z.string().optional(),
    maxTimeoutSeconds: z.int(),
  })
  .meta({ id: "PaymentConfig", description: "How the seller is paid." });
export type PaymentConfig = z.input<typeof PaymentConfig>;

export const PaidResource = z
  .object({
    resourceId: z.string(),
    sellerId: z.string(),
    method: z.string(),
    pathTemplate: z.string(),
    description: z.string().optional(),
    pricing: Pricing,
    configurationSource: z.string(),
    acceptedPaymentChallengeTypes: z.array(PaymentChallengeType),
    minimumAssuranceLevel: AssuranceLevel,
    paymentConfig: PaymentConfig.optional(),
  })
  .meta({ id: "PaidResource", description: "A path of a seller's API that costs money per call." });
export type PaidResource = z.input<typeof PaidResource>;

export const ListedResource = PaidResource.extend({
  payToProven: z.boolean().optional().meta({
    description:
      "Whether the organization has proven that it controls paymentConfig.payTo. In production our facilitator settles payments only to proven addresses. Absent if the resource has no paymentConfig yet.",
  }),
}).meta({
  id: "ListedResource",
  description: "A path of a seller's API that costs money per call, as the seller's organization sees it.",
});
export type ListedResource = z.input<typeof ListedResource>;

export const UpsertPaidResource = z
  .strictObject({
    sellerId: Id,
    method: Method,
    pathTemplate: PathTemplate,
    description: z.string().max(1000).optional(),
    pricing: Pricing,
    configurationSource: ConfigurationSource.optional(),
    acceptedPaymentChallengeTypes: z
      .array(z.enum(["x402"]))
      .min(1)
      .max(8),
    minimumAssuranceLevel: AssuranceLevel.optional(),
    paymentConfig: AskedPaymentConfig.optional(),
    resourceId: ClientId.optional().meta({ description: "If given, the same as in the path." }),
    payToProven: z.boolean().optional().meta({
      description: "It is ignored, so that a resource can be sent back as it was read. Use provePayTo to prove the address.",
    }),
  })
  .meta({ id: "UpsertPaidResource" });
export type UpsertPaidResource = z.output<typeof UpsertPaidResource>;

export const ProbeResource = z
  .strictObject({
    sellerId: Id.optional().meta({ description: "Needed only if two sellers of one organization use the same resourceId." }),
    path: z.string().max(2048).optional().meta({
      description: "The path to call, with its parameters filled in. It can be left out if the template has no parameters.",
    }),
  })
  .meta({ id: "ProbeResource" });

const ProbeFinding = z
  .object({
    field: z.enum(["status", "scheme", "amount", "payTo", "asset", "chain", "resource", "tokenName", "tokenVersion"]),
    pointer: z.string().meta({ description: "A JSON pointer into the decoded PAYMENT-REQUIRED." }),
    expected: z.string(),
    actual: z.string(),
    message: z.string(),
  })
  .meta({ id: "ProbeFinding", description: "The places where the answer differs from the registered values." });

export const ResourceProbe = z
  .object({
    url: z.string(),
    status: z.int(),
    payable: z.boolean().meta({ description: "Whether a payment that is authorized for this resource fits the 402." }),
    findings: z.array(ProbeFinding),
    challenge: z.record(z.string(), z.unknown()).optional().meta({ description: "The decoded PAYMENT-REQUIRED." }),
  })
  .meta({ id: "ResourceProbe", description: "The answer of a resource to a request without a payment." });
export type ResourceProbe = z.input<typeof ResourceProbe>;
