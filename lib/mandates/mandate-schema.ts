import { z } from "zod";
import { Address } from "#lib/evm.ts";
import { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { Timestamp } from "#lib/time.ts";
import { ApprovalMode, DenialCode, Environment, LedgerKind, MandateStatus, Unit } from "#lib/vocabulary.ts";

export const Wallet = z
  .strictObject({
    chain: z.string().min(1).max(64),
    address: Address,
  })
  .meta({ id: "MandateWallet", description: "The wallet that signs. A credential that another wallet signed is refused." });

export const MandateName = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .meta({ description: "A name for people.", examples: ["Research agent"] });
export const Agents = z
  .array(z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, "This is not a serviceAccountId."))
  .max(100)
  .meta({
    description:
      "The service accounts that may use the mandate. Without the list, all service accounts of the organization may use it.",
  });
export const MandateMetadata = z
  .record(z.string().max(128), z.unknown())
  .meta({ description: "Free-form; it does not affect decisions." });

export const WindowUsage = z
  .object({
    window: z.string().meta({ description: "total, a period with its time zone, or a rolling duration." }),
    unit: z.string().meta({ description: "The asset, or payments where their number is limited." }),
    start: Timestamp.optional(),
    end: Timestamp.optional(),
    limit: z.string(),
    spent: z.string(),
    reserved: z.string(),
    available: z.string(),
  })
  .meta({
    id: "WindowUsage",
    description: "The usage of one limit, and what remains: available = limit - spent - reserved.",
  });
export type WindowUsage = z.input<typeof WindowUsage>;

const RemainingLimit = z
  .object({
    pointer: z.string().meta({ description: "The limit in the policy." }),
    window: z.string().optional().meta({ description: "A period with its time zone, or a rolling duration." }),
    unit: z.string().meta({ description: "The asset, or payments where their number is limited." }),
    limit: z.string(),
    used: z.string().meta({ description: "What was paid and what is reserved for open payments." }),
    remaining: z.string(),
    resetsAt: Timestamp.optional().meta({
      description:
        "When the usage of the limit is zero again: the end of the period, or the time when the last payment leaves a rolling window. Absent if that never happens, or if a rolling window has no usage.",
    }),
  })
  .meta({ id: "RemainingLimit", description: "One limit of a mandate, and what remains of it." });
export type RemainingLimit = z.input<typeof RemainingLimit>;

const RemainingToken = z.object({
  asset: z.string(),
  chain: z.string(),
  tokenAddress: z.string(),
  tokenName: z.string(),
  tokenVersion: z.string(),
  tokenDecimals: z.int(),
});

export const Remaining = z
  .object({
    mandateId: z.string(),
    status: MandateStatus,
    asset: RemainingToken.optional().meta({ description: "The token that the mandate pays in. Absent with a unit." }),
    unit: Unit.optional().meta({ description: "The currency of the limits, if the mandate has one." }),
    assets: z
      .array(RemainingToken.partial().extend({ asset: z.string(), chain: z.string(), counts: z.string() }))
      .optional()
      .meta({
        description:
          "With a unit: what the mandate pays in, and what one whole asset counts as. Without the fields of a token, it moves on no chain.",
      }),
    limits: z.array(RemainingLimit),
    approval: z
      .object({ mode: ApprovalMode, amount: z.string().optional() })
      .meta({ description: "When a person is asked first. `amount` belongs to the mode `above`." }),
    stepUp: z
      .object({ above: z.string(), aboveUnverified: z.string() })
      .meta({ description: "The amounts above which the person who approves proves their identity again." }),
    at: Timestamp,
  })
  .meta({ id: "Remaining", description: "What an agent may still pay under a mandate, and when a person is asked." });

export const Mandate = z
  .object({
    mandateId: z.string(),
    organizationId: z.string(),
    environment: Environment,
    name: z.string(),
    status: MandateStatus,
    version: z.int(),
    policy: Policy,
    agents: z.array(z.string()).optional(),
    wallet: Wallet.optional(),
    usage: z.array(WindowUsage),
    metadata: MandateMetadata.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "Mandate", description: "What a buyer allows an agent to pay, and its usage." });
export type Mandate = z.input<typeof Mandate>;

const OpenRefused = z
  .object({
    items: z.array(
      z.object({
        authorizationId: z.string(),
        amount: z.string(),
        asset: z.string(),
        domain: z.string().optional(),
        state: z.enum(["held", "submitted", "canceled"]).meta({
          description:
            "held: its budget is reserved until it expires. submitted: its credential was sent; the payment is followed to its end, and this service does not settle it. canceled: canceled by this request.",
        }),
        denialCode: DenialCode,
        message: z.string(),
      }),
    ),
    canceled: z.int().meta({ description: "The number that this request canceled; items contains the newest of them." }),
    more: z.boolean().meta({
      description: "Whether there are more than in items. Refused payments are not executed, even if they are not in items.",
    }),
  })
  .meta({
    id: "OpenPaymentsRefused",
    description: "Payments that were authorized before and that the mandate no longer allows.",
  });
export type OpenRefused = z.input<typeof OpenRefused>;

export const ChangedMandate = Mandate.extend({
  openRefused: OpenRefused.optional().meta({ description: "Absent if the current version refuses no open payment." }),
}).meta({ id: "ChangedMandate", description: "The mandate after a change, with the open payments that it no longer allows." });

export const LedgerEntry = z
  .object({
    ledgerId: z.string(),
    mandateId: z.string(),
    kind: LedgerKind,
    amount: z.string(),
    asset: z.string(),
    authorizationId: z.string(),
    reservationId: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: "LedgerEntry", description: "An amount that was held, or the end of a hold. Entries never change." });
export type LedgerEntry = z.input<typeof LedgerEntry>;

const PAY_TO = "0x5fbdb2315678afecb367f032d93f642f64180aa3";

export const examplePolicy = {
  assets: [{ asset: "USDC", chain: "eip155:84532" }],
  limits: { perPayment: "1", budgets: [{ period: "day" as const, timezone: "Europe/Berlin", amount: "5" }] },
  payTo: { allow: [PAY_TO] },
};

export const exampleMandate = {
  mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8",
  organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
  environment: "sandbox" as const,
  name: "Research agent",
  status: "active" as const,
  version: 1,
  policy: examplePolicy,
  agents: ["sa_01kaj4n7v8e2m0x3c9t5q6r7s1"],
  usage: [
    {
      window: "day Europe/Berlin",
      unit: "USDC",
      start: "2026-11-20T23:00:00.000Z",
      end: "2026-11-21T23:00:00.000Z",
      limit: "5",
      spent: "1.25",
      reserved: "0.25",
      available: "3.5",
    },
  ],
  createdAt: "2026-11-21T08:00:00.000Z",
  updatedAt: "2026-11-21T08:05:00.000Z",
};
