import { z } from "zod";
import { Address } from "#lib/evm.ts";
import { minutesOf } from "#lib/mandates/policy/duration.ts";
import { AmountText } from "#lib/amount-text.ts";
import { Timestamp } from "#lib/time.ts";
import { ApprovalMode, AssuranceLevel, Period, Rail, Unit, UnregisteredSellers } from "#lib/vocabulary.ts";

const MAX_ENTRIES = 100;
const MAX_WINDOWS = 8;
const MAX_ASSETS = 8;

const zones = new Map<string, boolean>();

/** A pattern for the names of zones that this runtime treats as aliases, such as Asia/Kolkata. */
const ALIAS = /^(?:[A-Z][a-z]+|[A-Z]{2,3}|of|au|es)(?:[/_-](?:[A-Z][a-z]+|[A-Z]{2,3}|of|au|es))*$/;

/** Refuses most spellings other than IANA's, such as europe/berlin, which would get their own window, sums and cache entries. */
function isZone(name: string): boolean {
  const known = zones.get(name);
  if (known !== undefined) return known;
  let valid = false;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    valid = timeZone === name || (timeZone.toLowerCase() !== name.toLowerCase() && ALIAS.test(name));
  } catch {
    // Intl throws a RangeError for an unknown zone, so `valid` stays false.
  }
  if (zones.size > 1_000) zones.clear();
  zones.set(name, valid);
  return valid;
}

/** The pattern refuses offsets such as +02:00, because they would ignore daylight saving time. */
export const TimeZone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, "Write an IANA time zone, such as Europe/Berlin.")
  .refine(isZone, "This time zone is unknown. Write it as IANA does, such as Europe/Berlin.")
  .meta({ id: "TimeZone", description: "An IANA time zone; daylight saving is followed.", examples: ["Europe/Berlin"] });

const RollingDuration = z
  .string()
  .max(20)
  .refine(
    (text) => minutesOf(text) !== null,
    "Write an ISO 8601 duration of whole days, hours and minutes from PT1M to P366D, such as PT24H.",
  )
  .meta({
    id: "RollingDuration",
    description:
      "The length of a rolling window: whole days, hours and minutes, from PT1M to P366D. It is counted in 60 parts of whole seconds. The oldest part counts in full, so the limit is never exceeded, and a payment counts for at most one sixtieth longer than the window.",
    examples: ["PT24H"],
  });

const calendar = { period: Period, timezone: TimeZone };
const rolling = { rolling: RollingDuration };

const Budget = z
  .union([z.strictObject({ ...calendar, amount: AmountText }), z.strictObject({ ...rolling, amount: AmountText })])
  .meta({ id: "Budget", description: "An amount per calendar period or per rolling window. Weeks start on Monday." });

const MaxPayments = z.int().min(1).max(1_000_000_000);
const PaymentCount = z
  .union([z.strictObject({ ...calendar, max: MaxPayments }), z.strictObject({ ...rolling, max: MaxPayments })])
  .meta({ id: "PaymentCount", description: "A number of payments per calendar period or per rolling window." });

const Limits = z
  .strictObject({
    perPayment: AmountText.meta({ description: "The limit for one payment, including the buyer's share of the fee." }),
    total: AmountText.meta({ description: "The limit for all payments under the mandate together." }).optional(),
    budgets: z.array(Budget).max(MAX_WINDOWS).optional(),
    counts: z.array(PaymentCount).max(MAX_WINDOWS).optional(),
    cooldownSeconds: z.int().min(1).max(31_536_000).meta({ description: "The least time between two payments." }).optional(),
  })
  .meta({ id: "MandateLimits", description: "perPayment is required, and also total or at least one budget." });

const SellerId = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, "This is not a sellerId.");
const SellerIds = z.array(SellerId).max(MAX_ENTRIES);

const Domain = z
  .string()
  .max(259)
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?::[0-9]{1,5})?$/,
    "Write the domain in lower-case ASCII without scheme or path, such as shop.example.com.",
  )
  .meta({ description: "Matches this domain and every subdomain of it.", examples: ["example.com"] });
const Domains = z.array(Domain).max(MAX_ENTRIES);

const Addresses = z.array(Address).max(MAX_ENTRIES);

const Method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
const ResourceId = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, "This is not a resourceId.");
const PathTemplate = z
  .string()
  .max(1_024)
  .regex(/^\/[A-Za-z0-9._~{}/-]*$/, "Write the path template as it is registered, such as /reports/{id}.");
const ResourceRule = z
  .union([
    z.strictObject({ sellerId: SellerId, resourceId: ResourceId }),
    z.strictObject({ sellerId: SellerId, method: Method, pathTemplate: PathTemplate }),
  ])
  .meta({
    id: "ResourceRule",
    description: "A registered resource, by its id or by its method and path template. Never a pattern.",
  });

const Weekday = z.enum(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]).meta({ id: "Weekday" });
export const TimeOfDay = z
  .string()
  .regex(/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, "Write the time as hours and minutes, such as 09:00.")
  .meta({ examples: ["09:00"] });

const Schedule = z
  .strictObject({ days: z.array(Weekday).min(1).max(7), from: TimeOfDay, to: TimeOfDay, timezone: TimeZone })
  .meta({ id: "MandateSchedule", description: "Payments are allowed on these days, at or after `from` and before `to`." });

const Approval = z
  .strictObject({
    mode: ApprovalMode,
    amount: AmountText.optional(),
    expiresInSeconds: z
      .int()
      .min(60)
      .max(86_400)
      .meta({
        description:
          "The longest time in seconds that a request waits for a person. The intent or the quote may end earlier. Default: 1800.",
      })
      .optional(),
  })
  .meta({ id: "MandateApproval", description: "When a person is asked first. `amount` belongs to the mode `above` alone." });

const MaximumFee = z
  .union([z.strictObject({ amount: AmountText }), z.strictObject({ bps: z.int().min(0).max(10_000) })])
  .meta({ id: "MaximumFee", description: "The largest fee of the service that the buyer bears on one payment." });

const PolicyAsset = z.strictObject({
  asset: z.string().min(1).max(32),
  chain: z.string().min(1).max(64),
  counts: AmountText.meta({
    description: "With a unit: what one whole asset counts as, with at most 9 decimals.",
    examples: ["1.12"],
  }).optional(),
});

const RecordDeadline = z
  .string()
  .max(20)
  .refine((text) => minutesOf(text) !== null, "Write an ISO 8601 duration of whole days, hours and minutes, such as P14D.")
  .meta({ examples: ["P14D"] });

const RecordPayee = z.union([
  z.strictObject({ sellerId: SellerId }),
  z.strictObject({ kind: z.enum(["iban", "email", "account"]), value: z.string().trim().min(1).max(200) }),
]);

const Records = z
  .strictObject({
    payees: z.union([z.literal("any"), z.array(RecordPayee).max(MAX_ENTRIES)]),
    deadline: RecordDeadline.meta({
      description: "The longest time from the authorization until the payment is recorded. Default: P14D.",
    }).optional(),
  })
  .meta({
    id: "RecordRules",
    description: "The payees of payments that are made elsewhere and recorded here. Without it, a person is asked about each.",
  });

const Names = (pattern: RegExp, what: string) => z.array(z.string().regex(pattern, what)).max(MAX_ENTRIES);

const Cards = z
  .strictObject({
    categories: Names(/^[a-z0-9_]{1,80}$/, "Write Stripe's name of a category, such as computer_software_stores.").optional(),
    countries: Names(/^[A-Z]{2}$/, "Write a country as two capital letters, such as DE.").optional(),
    merchants: Names(/^[A-Za-z0-9_-]{1,64}$/, "Write the merchant's network_id.").optional(),
  })
  .meta({
    id: "CardRules",
    description:
      "The merchants that cards pay: by Stripe's category, by country, and by the card network's id. A merchant must be in each list that is given. Without it, each purchase needs a clearance by a person.",
  });

export const Policy = z
  .strictObject({
    unit: Unit.meta({
      description:
        "The currency of all limits, with 9 decimals. Each asset then counts at the rate in `counts`. It never changes. Without it, the mandate pays in one asset, and the limits are in that asset.",
    }).optional(),
    assets: z.array(PolicyAsset).min(1).max(MAX_ASSETS).meta({
      description: "Without a unit exactly one, without `counts`. With a unit up to 8, each with `counts`.",
    }),
    rails: z.array(Rail).min(1).meta({ description: "The kinds of payments that are admitted. Default: x402." }).optional(),
    records: Records.optional(),
    cards: Cards.optional(),
    limits: Limits,
    sellers: z
      .strictObject({ allow: SellerIds.optional(), deny: SellerIds.optional(), unregistered: UnregisteredSellers.optional() })
      .optional(),
    domains: z
      .strictObject({
        allow: Domains.meta({
          description:
            "A domain in `allow` admits a seller that has verified it, or a payment for which the 402 at the domain, which the service requests itself, names the same payee, asset, network and price. A seller in sellers.allow and an address in payTo.allow need no such proof.",
        }).optional(),
        deny: Domains.meta({ description: "Denied to every seller that claims one of these domains." }).optional(),
      })
      .optional(),
    payTo: z.strictObject({ allow: Addresses.optional(), deny: Addresses.optional() }).optional(),
    resources: z.array(ResourceRule).max(MAX_ENTRIES).optional(),
    schedule: Schedule.optional(),
    approval: Approval.optional(),
    minimumAssuranceLevel: AssuranceLevel.optional(),
    requireVerifiedSeller: z.boolean().optional(),
    maximumFee: MaximumFee.optional(),
    validFrom: Timestamp.optional(),
    validUntil: Timestamp.optional(),
  })
  .meta({
    id: "Policy",
    description:
      "The rules of a mandate. An absent rule restricts nothing, except that sellers which are not registered are denied unless sellers.unregistered allows them. An empty `allow` allows nothing, and deny wins.",
  });
export type Policy = z.infer<typeof Policy>;
