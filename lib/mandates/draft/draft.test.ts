import { describe, expect, test } from "vitest";
import { checkDraft } from "#lib/mandates/draft/check-draft.ts";
import { createBody, updateBody } from "#lib/mandates/draft/draft-request.ts";
import { createMandate, updateMandate } from "#lib/mandates/contract.ts";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import { draftOf, newDraft, type MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";

const coin = { asset: "USDC", chain: "eip155:84532" };
const timezone = "Europe/Vienna";
const least: Policy = { assets: [coin], limits: { perPayment: "1", total: "5" } };
const address = `0x${"a1".repeat(20)}`;

const whole: Policy = {
  assets: [coin],
  limits: {
    perPayment: "8",
    total: "1200",
    budgets: [
      { period: "day", timezone, amount: "20" },
      { period: "month", timezone, amount: "300" },
      { period: "day", timezone: "UTC", amount: "25" },
      { rolling: "PT24H", amount: "30.5" },
    ],
    counts: [
      { period: "day", timezone, max: 2000 },
      { rolling: "PT1H", max: 10 },
    ],
    cooldownSeconds: 60,
  },
  sellers: { allow: ["sel_1"], deny: ["sel_2"], unregistered: "allow" },
  domains: { allow: ["weather.example"], deny: ["bad.example"] },
  payTo: { allow: [address], deny: [] },
  resources: [
    { sellerId: "sel_1", resourceId: "daily" },
    { sellerId: "sel_1", method: "GET", pathTemplate: "/v1/{id}" },
  ],
  schedule: { days: ["monday", "tuesday"], from: "06:00", to: "24:00", timezone: "UTC" },
  approval: { mode: "above", amount: "5", expiresInSeconds: 14_400 },
  minimumAssuranceLevel: "passkeyApproved",
  requireVerifiedSeller: true,
  maximumFee: { bps: 230 },
  validFrom: "2026-12-01T00:00:00.000Z",
  validUntil: "2027-03-31T22:00:30.500Z",
};

const again = (policy: Policy) => draftTermsOf(draftOf({ name: "M", policy })).terms.policy;
const drafted = (change: Partial<MandateDraft>): MandateDraft => ({ ...draftOf({ name: "M", policy: least }), ...change });
const errorsOf = (change: Partial<MandateDraft>) => Object.fromEntries(checkDraft(drafted(change), 6));

describe("a stored policy", () => {
  test("passes through the form unchanged, with every rule", () => {
    const { deny: _, ...payTo } = whole.payTo ?? {};
    expect(again(whole)).toEqual({ ...whole, payTo });
    expect(again(least)).toEqual(least);
  });

  test.each([
    ["a closed list", { ...least, domains: { allow: [] }, resources: [] }],
    [
      "a unit with rates, and rails",
      {
        ...least,
        unit: "USD" as const,
        assets: [
          { ...coin, counts: "1" },
          { asset: "EURC", chain: "eip155:8453", counts: "1.12" },
        ],
        rails: ["x402" as const, "record" as const],
        records: { payees: "any" as const, deadline: "P7D" },
      },
    ],
    ["rails that every mandate admits", { ...least, rails: ["x402" as const] }],
    ["records about which a person is asked", { ...least, rails: ["record" as const] }],
    ["no payee of records", { ...least, rails: ["record" as const], records: { payees: [] } }],
    ["a deadline alone", { ...least, rails: ["record" as const], records: { payees: [], deadline: "PT36H" } }],
    [
      "payees of records",
      {
        ...least,
        rails: ["record" as const, "x402" as const],
        records: { payees: [{ sellerId: "sel_1" }, { kind: "iban" as const, value: "DE89 3704 0044 0532 0130 00" }] },
      },
    ],
    ["cards at any merchant", { ...least, rails: ["card" as const], cards: {} }],
    ["cards that a person clears", { ...least, rails: ["x402" as const, "card" as const] }],
    ["merchants of cards", { ...least, rails: ["card" as const], cards: { categories: ["hotels"], countries: ["DE"] } }],
    ["no merchant of cards", { ...least, rails: ["card" as const], cards: { merchants: [], countries: ["DE"] } }],
    ["a fee as an amount", { ...least, maximumFee: { amount: "0.05" } }],
    ["a fee of nothing", { ...least, maximumFee: { bps: 0 } }],
    ["the first payment", { ...least, approval: { mode: "firstPayment" as const } }],
    [
      "a week and a year",
      {
        ...least,
        limits: {
          perPayment: "1",
          budgets: [
            { period: "week" as const, timezone, amount: "5" },
            { period: "year" as const, timezone, amount: "9" },
          ],
        },
      },
    ],
  ])("passes through the form unchanged with %s", (_, policy: Policy) => expect(again(policy)).toEqual(policy));

  test("the form keeps the mandate's agents and wallet", () => {
    const bound = { name: "M", policy: least, agents: ["sa_1"], wallet: { address } };
    const { terms } = draftTermsOf(draftOf(bound));
    expect(updateMandate.body.parse(updateBody(terms))).toEqual({ ...bound, wallet: { chain: coin.chain, address } });
    const free = draftTermsOf(draftOf({ name: "M", policy: least })).terms;
    expect(updateMandate.body.parse(updateBody(free))).toEqual({ name: "M", policy: least, agents: null, wallet: null });
    expect(createMandate.body.parse(createBody(free))).toEqual({ name: "M", policy: least });
  });
});

test("the wallet keeps its chain while the mandate pays there", () => {
  const assets = [
    { ...coin, counts: "1" },
    { asset: "USDC", chain: "eip155:8453", counts: "1" },
  ];
  const stored = { name: "M", policy: { ...least, unit: "USD" as const, assets }, wallet: { address, chain: "eip155:8453" } };
  const draft = draftOf(stored);
  expect(draftTermsOf(draft).terms.wallet).toEqual(stored.wallet);
  expect(draftTermsOf({ ...draft, rates: draft.rates.slice(0, 1) }).terms.wallet).toEqual({ address, chain: coin.chain });
});

describe("each error is shown at its field", () => {
  test("a rate that is missing or wrong, an asset twice, and no asset", () => {
    const usdc = { coin: "USDC eip155:84532", counts: "1" };
    const errors = (...rates: MandateDraft["rates"]) => Object.fromEntries(checkDraft(drafted({ unit: "USD", rates }), 9));
    expect(errors(usdc)).toEqual({});
    expect(errors({ ...usdc, counts: "" })).toEqual({ "rates.0.counts": "Fill this in." });
    expect(errors(usdc, { coin: "EURC eip155:84532", counts: "0" })).toEqual({
      "rates.1.counts": "An asset must count as more than zero.",
    });
    expect(errors(usdc, { ...usdc, counts: "2" })).toEqual({ "rates.1.coin": "This asset is in the list already." });
    expect(errors()).toEqual({ unit: "Choose at least one." });
  });

  test("rails and the rules of records", () => {
    const rates = [{ coin: "USD iso4217:USD", counts: "1" }];
    const errors = (change: Partial<MandateDraft>) => errorsOf({ unit: "USD", rates, rails: ["record"], ...change });
    const records = { payees: "listed" as const, listed: [{ kind: "iban" as const, value: "DE89" }], deadline: "30" };
    expect(errors({ records })).toEqual({});
    expect(draftTermsOf(drafted({ rails: ["record"], records })).terms.policy.records).toMatchObject({ deadline: "P30D" });
    expect(errors({ rails: [] })).toEqual({ rails: "Choose at least one." });
    expect(errorsOf({ rails: ["record"] })).toEqual({
      rails: "Payments that are made elsewhere are in a currency. Set the limits in USD or EUR.",
    });
    expect(errors({ records: { ...records, deadline: "two" } })).toEqual({
      "records.deadline": "Write an ISO 8601 duration of whole days, hours and minutes, such as P14D.",
    });
    const listed = [...records.listed, { kind: "email" as const, value: " " }, { kind: "seller" as const, value: "" }];
    expect(errors({ records: { ...records, listed } })).toEqual({
      "records.listed.1.value": "Fill this in.",
      "records.listed.2.value": "Fill this in.",
    });
  });

  test("the merchants of cards", () => {
    const rates = [{ coin: "USD iso4217:USD", counts: "1" }];
    const lists = { categories: [], countries: [], merchants: [], closed: [] };
    const errors = (cards: Partial<MandateDraft["cards"]>) =>
      errorsOf({ unit: "USD", rates, rails: ["card"], cards: { ...lists, pays: "listed", ...cards } });
    expect(errors({ merchants: ["4711"] })).toEqual({});
    expect(errors({})).toEqual({ "cards.categories": "Fill this in." });
    expect(errors({ categories: ["Hotels"], countries: ["de"] })).toEqual({
      "cards.categories": "Write Stripe's name of a category, such as computer_software_stores.",
      "cards.countries": "Write a country as two capital letters, such as DE.",
    });
    const closed = { ...lists, pays: "listed" as const, countries: ["DE"], closed: ["countries" as const] };
    expect(draftTermsOf(drafted({ rails: ["card"], cards: { ...closed, countries: [] } })).terms.policy.cards).toEqual({
      countries: [],
    });
  });

  test("an empty form", () => {
    expect(Object.fromEntries(checkDraft(newDraft("USDC eip155:84532"), 6))).toEqual({
      name: "Fill this in.",
      perPayment: "Fill this in.",
      above: "Fill this in.",
    });
  });

  test.each<[Partial<MandateDraft>, string, RegExp]>([
    [{ perPayment: "1,5" }, "perPayment", /plain decimal/],
    [{ perPayment: "0.0000001" }, "perPayment", /6 decimals/],
    [{ perPayment: "9" }, "perPayment", /larger than the total/],
    [{ total: "" }, "day", /total or at least one budget/],
    [{ day: "9" }, "day", /larger than the total/],
    [{ day: "5", month: "4" }, "day", /longer window/],
    [{ countDay: "many" }, "countDay", /whole number/],
    [{ countDay: "0" }, "countDay", /At least 1/],
    [{ cooldownSeconds: "-1" }, "cooldownSeconds", /whole number/],
    [{ mode: "above", above: "" }, "above", /Fill this in/],
    [{ wallet: "0x12" }, "wallet", /40 hexadecimal/],
    [{ domains: { only: true, allow: ["https://a.example"], deny: [] } }, "domains.allow", /lower-case/],
    [{ fee: { as: "percent", value: "101" } }, "fee.value", /At most/],
    [{ fee: { as: "percent", value: "a lot" } }, "fee.value", /whole number|number/],
    [{ schedule: { on: true, days: [], from: "08:00", to: "18:00", timezone } }, "schedule.days", /at least one/],
    [{ schedule: { on: true, days: ["monday"], from: "18:00", to: "08:00", timezone } }, "schedule.to", /after the beginning/],
    [{ validFrom: "2027-01-01T00:00", validUntil: "2026-01-01T00:00" }, "validUntil", /after it begins/],
    [{ more: [{ kind: "amount", span: "rolling", timezone, rolling: "24h", value: "1" }] }, "more.0.rolling", /ISO 8601/],
    [{ more: [{ kind: "amount", span: "week", timezone, rolling: "", value: "" }] }, "more.0.value", /Fill this in/],
    [
      { day: "1", more: [{ kind: "amount", span: "day", timezone: "UTC", rolling: "", value: "1" }] },
      "more.0.value",
      /is in the list/,
    ],
    [{ resources: { only: true, allow: ["sel_1 GET path"] } }, "resources.allow", /as it is registered/],
  ])("%j", (change, field, message) => expect(errorsOf(change)).toEqual({ [field]: expect.stringMatching(message) as string }));
});
