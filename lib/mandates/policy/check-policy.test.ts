import { UNIT_DECIMALS } from "#lib/money.ts";
import { describe, expect, test } from "vitest";
import { checkPolicy } from "#lib/mandates/policy/check-policy.ts";
import { minutesOf } from "#lib/mandates/policy/duration.ts";
import { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { CHAIN, policyOf } from "#test/mandate-facts.ts";

const assets = [{ asset: "USDC", chain: CHAIN }];
const DAY = { period: "day", timezone: "UTC" };
const schedule = { days: ["monday"], from: "09:00", to: "17:00", timezone: "Europe/Berlin" };

const usdc = { ...assets[0]!, counts: "1" };
const eurc = { ...usdc, asset: "EURC", counts: "1.12" };
const usd = { asset: "USD", chain: "iso4217:USD", counts: "1" };
const inUsd = (...list: object[]) => ({ unit: "USD", assets: list });

const refused: [guarantee: string, rules: Parameters<typeof policyOf>[0], pointers: string[]][] = [
  ["refuses two assets without a unit", { assets: [...assets, ...assets] }, ["/assets"]],
  ["refuses a rate without a unit", { assets: [usdc] }, ["/assets/0/counts"]],
  ["takes two assets with a unit", inUsd(usdc, eurc), []],
  ["takes limits with the 9 decimals of a unit", { ...inUsd(usdc), limits: { perPayment: "0.000000001" } }, []],
  ["needs a rate for each asset of a unit", inUsd(usdc, { ...eurc, counts: undefined }), ["/assets/1/counts"]],
  ["refuses a rate of zero", inUsd({ ...usdc, counts: "0.0" }), ["/assets/0/counts"]],
  ["refuses a rate with more than 9 decimals", inUsd({ ...usdc, counts: "1.0000000001" }), ["/assets/0/counts"]],
  ["refuses a rate that no asset is worth", inUsd({ ...usdc, counts: "1000000000.1" }), ["/assets/0/counts"]],
  ["refuses an asset twice", inUsd(usdc, eurc, { ...usdc, counts: "2" }), ["/assets/2"]],
  ["takes an asset on two chains", inUsd(usdc, { ...usdc, chain: "eip155:1" }), []],
  ["takes the unit itself as an asset", inUsd(usd), []],
  ["refuses another rate for the unit itself", inUsd({ ...usd, counts: "1.01" }), ["/assets/0/counts"]],
  ["refuses a rail twice", { rails: ["x402", "x402"] }, ["/rails/1"]],
  ["refuses rules for records without their rail", { records: { payees: "any" } }, ["/records"]],
  ["takes payments that are made elsewhere", { ...inUsd(usd), rails: ["record"], records: { payees: [] } }, []],
  ["refuses them without a currency", { ...inUsd(usdc), rails: ["x402", "record"] }, ["/rails/1"]],
  ["refuses them without a unit", { rails: ["record"] }, ["/rails/0"]],
  ["takes a minimal policy", {}, []],
  ["needs a total or a budget", { limits: { total: undefined } }, ["/limits"]],
  ["takes a budget in place of a total", { limits: { total: undefined, budgets: [{ ...DAY, amount: "5" }] } }, []],
  ["does not take a count in place of a budget", { limits: { total: undefined, counts: [{ ...DAY, max: 5 }] } }, ["/limits"]],
  ["refuses more digits than the asset has", { limits: { perPayment: "0.0000001" } }, ["/limits/perPayment"]],
  ["refuses an amount that no token can hold", { limits: { total: `1${"0".repeat(77)}` } }, ["/limits/total"]],
  [
    "refuses a limit of zero",
    { limits: { perPayment: "0", total: "0.0", budgets: [{ ...DAY, amount: "0" }] } },
    ["/limits/perPayment", "/limits/total", "/limits/budgets/0/amount"],
  ],
  ["refuses a payment larger than the total", { limits: { perPayment: "101" } }, ["/limits/perPayment"]],
  [
    "refuses a budget larger than the total",
    { limits: { budgets: [{ ...DAY, amount: "100.000001" }] } },
    ["/limits/budgets/0/amount"],
  ],
  [
    "refuses a day larger than its week",
    {
      limits: {
        budgets: [
          { ...DAY, amount: "9" },
          { ...DAY, period: "week", amount: "8" },
        ],
      },
    },
    ["/limits/budgets/0/amount"],
  ],
  [
    "takes a day as large as its year",
    {
      limits: {
        budgets: [
          { ...DAY, period: "year", amount: "9" },
          { ...DAY, amount: "9" },
        ],
      },
    },
    [],
  ],
  [
    "compares only budgets of the same zone",
    {
      limits: {
        budgets: [
          { ...DAY, amount: "9" },
          { period: "week", timezone: "Europe/Berlin", amount: "8" },
        ],
      },
    },
    [],
  ],
  [
    "compares only budgets of the same kind",
    {
      limits: {
        budgets: [
          { ...DAY, amount: "9" },
          { rolling: "P7D", amount: "8" },
        ],
      },
    },
    [],
  ],
  [
    "refuses a shorter rolling budget above a longer one",
    {
      limits: {
        budgets: [
          { rolling: "P7D", amount: "8" },
          { rolling: "PT24H", amount: "9" },
        ],
      },
    },
    ["/limits/budgets/1/amount"],
  ],
  [
    "refuses the same window twice",
    {
      limits: {
        budgets: [
          { rolling: "P1D", amount: "8" },
          { rolling: "PT24H", amount: "8" },
        ],
      },
    },
    ["/limits/budgets/1"],
  ],
  [
    "refuses the same count twice",
    {
      limits: {
        counts: [
          { ...DAY, max: 1 },
          { ...DAY, max: 2 },
        ],
      },
    },
    ["/limits/counts/1"],
  ],
  ["needs an amount for the mode above", { approval: { mode: "above" } }, ["/approval/amount"]],
  ["accepts an amount only for the mode above", { approval: { mode: "always", amount: "1" } }, ["/approval/amount"]],
  ["refuses an approval amount with too many digits", { approval: { mode: "above", amount: "0.0000001" } }, ["/approval/amount"]],
  ["refuses a fee with too many digits", { maximumFee: { amount: "0.0000001" } }, ["/maximumFee/amount"]],
  [
    "refuses an end before the beginning",
    { validFrom: "2027-01-01T00:00:00Z", validUntil: "2026-12-31T23:00:00-01:00" },
    ["/validUntil"],
  ],
  ["takes a schedule", { schedule }, []],
  ["refuses a schedule over midnight", { schedule: { ...schedule, from: "22:00", to: "06:00" } }, ["/schedule/to"]],
  ["refuses a day twice", { schedule: { ...schedule, days: ["monday", "tuesday", "monday"] } }, ["/schedule/days/2"]],
];

describe("checkPolicy", () => {
  test.each(refused)("%s", (_guarantee, rules, pointers) => {
    const errors = checkPolicy(policyOf(rules), { decimals: rules?.["unit"] === undefined ? 6 : UNIT_DECIMALS });
    expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    for (const { detail } of errors) expect(detail).toMatch(/^[A-Z].+\.$/);
  });
});

const limits = { perPayment: "1", total: "9" };
const invalid: [guarantee: string, policy: unknown][] = [
  ["an unknown field", { assets, limits, limit: "1" }],
  ["an unknown field in a rule", { assets, limits: { ...limits, perDay: "1" } }],
  ["no asset", { assets: [], limits }],
  ["nine assets", { unit: "USD", assets: Array.from({ length: 9 }, () => usdc), limits }],
  ["an unknown unit", { unit: "XAU", assets: [usdc], limits }],
  ["an unknown rail", { assets, limits, rails: ["cash"] }],
  ["no rail", { assets, limits, rails: [] }],
  ["an unknown kind of payee", { assets, limits, rails: ["record"], records: { payees: [{ kind: "phone", value: "1" }] } }],
  ["a deadline that is no duration", { assets, limits, records: { payees: "any", deadline: "two weeks" } }],
  ["no limit per payment", { assets, limits: { total: "9" } }],
  ["a number for an amount", { assets, limits: { perPayment: 1, total: "9" } }],
  ["an amount with an exponent", { assets, limits: { perPayment: "1e3", total: "9" } }],
  ["a negative amount", { assets, limits: { perPayment: "-1", total: "9" } }],
  ["an unknown period", { assets, limits: { ...limits, budgets: [{ period: "hour", timezone: "UTC", amount: "1" }] } }],
  ["an unknown zone", { assets, limits: { ...limits, budgets: [{ period: "day", timezone: "Mars/Olympus", amount: "1" }] } }],
  ["an offset for a zone", { assets, limits: { ...limits, budgets: [{ period: "day", timezone: "+02:00", amount: "1" }] } }],
  [
    "a window that is both",
    { assets, limits: { ...limits, budgets: [{ period: "day", timezone: "UTC", rolling: "PT1H", amount: "1" }] } },
  ],
  ["a window that is neither", { assets, limits: { ...limits, budgets: [{ amount: "1" }] } }],
  [
    "nine budgets",
    { assets, limits: { ...limits, budgets: Array.from({ length: 9 }, (_, n) => ({ rolling: `PT${n + 1}H`, amount: "1" })) } },
  ],
  ["a fraction of a payment", { assets, limits: { ...limits, counts: [{ rolling: "PT1H", max: 1.5 }] } }],
  ["a negative cooldown", { assets, limits: { ...limits, cooldownSeconds: -1 } }],
  ["101 sellers", { assets, limits, sellers: { allow: Array.from({ length: 101 }, (_, n) => `sel_${n}`) } }],
  ["a domain with a scheme", { assets, limits, domains: { allow: ["https://example.com"] } }],
  ["a domain in capitals", { assets, limits, domains: { allow: ["Example.com"] } }],
  ["a domain with a wildcard", { assets, limits, domains: { allow: ["*.example.com"] } }],
  ["a domain with a trailing dot", { assets, limits, domains: { allow: ["example.com."] } }],
  ["a payee that is no address", { assets, limits, payTo: { allow: ["0x1"] } }],
  ["a path that is a glob", { assets, limits, resources: [{ sellerId: "sel_one", method: "GET", pathTemplate: "/reports/*" }] }],
  ["a resource without a seller", { assets, limits, resources: [{ resourceId: "report" }] }],
  ["a schedule without a zone", { assets, limits, schedule: { days: ["monday"], from: "09:00", to: "17:00" } }],
  ["the hour 25", { assets, limits, schedule: { days: ["monday"], from: "09:00", to: "25:00", timezone: "UTC" } }],
  ["an unknown approval mode", { assets, limits, approval: { mode: "sometimes" } }],
  ["a fee that is both", { assets, limits, maximumFee: { amount: "1", bps: 5 } }],
  ["more than the whole as fee", { assets, limits, maximumFee: { bps: 10_001 } }],
  ["a time without a zone", { assets, limits, validUntil: "2027-01-01T00:00:00" }],
];

test("a rail that is served may have rules", () => {
  const policy = policyOf({
    ...inUsd(usd),
    rails: ["x402", "record"],
    records: { payees: [{ kind: "iban", value: "DE89 3704" }], deadline: "P7D" },
  });
  expect(checkPolicy(policy, { decimals: 6, served: new Set(["x402", "record"]) })).toEqual([]);
});

describe("Policy", () => {
  test.each(invalid)("refuses %s", (_guarantee, policy) => {
    expect(Policy.safeParse(policy).success).toBe(false);
  });
});

describe("time zones", () => {
  const inZone = (timezone: string) => ({
    assets,
    limits: { perPayment: "1", budgets: [{ period: "day", timezone, amount: "1" }] },
  });
  const known = [
    "UTC",
    "Europe/Berlin",
    "Europe/Kyiv",
    "Asia/Kolkata",
    "America/Port-au-Prince",
    "Africa/Dar_es_Salaam",
    "US/Eastern",
    "Etc/GMT+5",
  ];
  test.each(known)("%s is known", (timezone) => {
    expect(Policy.safeParse(inZone(timezone)).success).toBe(true);
  });
  test.each(["europe/berlin", "Europe/BERLIN", "ASIA/Kolkata", "Mars/Olympus", "+02:00", "", "Europe/Berlin\n", "UTC+2"])(
    "%j is refused",
    (timezone) => {
      expect(Policy.safeParse(inZone(timezone)).success).toBe(false);
    },
  );
});

describe("minutesOf", () => {
  test.each([
    ["PT1M", 1],
    ["PT24H", 1_440],
    ["P1D", 1_440],
    ["P1DT2H3M", 1_563],
    ["P366D", 527_040],
    ["P366DT1M", null],
    ["PT0M", null],
    ["PT30S", null],
    ["P1W", null],
    ["P1M", null],
    ["PT1.5H", null],
    ["P1DT", null],
    ["P", null],
    ["", null],
    ["-PT1H", null],
    ["pt1h", null],
  ])("%s", (duration, minutes) => {
    expect(minutesOf(duration)).toBe(minutes);
  });
});
