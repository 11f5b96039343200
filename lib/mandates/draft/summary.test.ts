import { describe, expect, test } from "vitest";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { asksWhen, plainText, summarize, type Words } from "#lib/mandates/draft/summary.ts";
import { daysWords, windowWords } from "#lib/mandates/policy/words.ts";

const timezone = "Europe/Vienna";
const least: Policy = {
  assets: [{ asset: "USDC", chain: "eip155:84532" }],
  limits: { perPayment: "8", budgets: [{ period: "day", timezone, amount: "20" }] },
};
const words: Words = {
  agents: null,
  nameOf: (id) => ({ sa_1: "Field data agent", sa_2: "Report agent" })[id] ?? id,
  networkOf: (chain) => (chain === "eip155:84532" ? "Base Sepolia" : "Base"),
};

const said = (policy: Policy, change: Partial<Words> = {}): string => {
  const { may, ask, terms } = summarize(policy, { ...words, ...change });
  return [may, ask, ...terms].map(plainText).join("\n");
};

describe("a policy in plain words", () => {
  test("says the smallest policy that can be saved", () => {
    expect(said(least)).toBe(
      [
        "Agents may spend up to 20.00 USDC a day, at most 8.00 USDC in one payment.",
        "Nobody is asked about payments inside these limits.",
        "Only to sellers that are registered here.",
        "In USDC on Base Sepolia.",
        "Days begin at midnight, Europe/Vienna time.",
      ].join("\n"),
    );
  });

  test("says all times in the mandate's zone", () => {
    const limits = { perPayment: "1", budgets: [{ period: "month" as const, timezone, amount: "250" }] };
    expect(
      said({ ...least, limits, validUntil: "2027-03-31T22:00:00.000Z" })
        .split("\n")
        .slice(-2),
    ).toEqual(["Days begin at midnight, Europe/Vienna time.", "Ends on 1 April 2027, midnight Europe/Vienna time."]);
  });

  test("says in one sentence what counts as what", () => {
    const usdc = { asset: "USDC", chain: "eip155:84532", counts: "1" };
    const eurc = { ...usdc, asset: "EURC", counts: "1.12" };
    const lines = said({ ...least, unit: "USD", assets: [usdc, eurc] }).split("\n");
    expect(lines[0]).toBe("Agents may spend up to 20.00 USD a day, at most 8.00 USD in one payment.");
    expect(lines).toContain("1 USDC counts as 1 USD, 1 EURC as 1.12 USD, on Base Sepolia.");
    expect(said({ ...least, unit: "EUR", assets: [usdc, { ...eurc, chain: "eip155:8453", counts: "" }] })).toContain(
      "1 USDC on Base Sepolia counts as 1 EUR, 1 EURC on Base as … EUR.",
    );
    const usd = { asset: "USD", chain: "iso4217:USD", counts: "1" };
    expect(said({ ...least, unit: "USD", assets: [usd, usdc] })).toContain("\n1 USDC counts as 1 USD, on Base Sepolia.");
    expect(said({ ...least, unit: "EUR", assets: [usd] })).toContain("\n1 USD counts as 1 EUR.");
    expect(said({ ...least, unit: "USD", assets: [usd] })).toContain("\nIn USD.");
  });

  test("says which kinds of payments are admitted, if the policy names them", () => {
    expect(said({ ...least, rails: ["x402"] })).toContain("Only payments by x402.");
    const all: Policy = { ...least, rails: ["x402", "record"] };
    expect(said(all)).toContain(
      "Only payments by x402 and payments that are made elsewhere and recorded here.\nAsk me about every recorded payment.",
    );
    expect(said({ ...all, records: { payees: [], deadline: "P7D" } })).toContain(
      "Ask me about every recorded payment.\nThey are recorded in 7 days at the latest.",
    );
    expect(said({ ...all, records: { payees: [{ kind: "iban", value: "" }] } })).toContain("Recorded payments go to ….");
    const nobody = "Nobody is asked about payments inside these limits";
    expect(said(all)).toContain(`${nobody}, except about some that are made elsewhere.`);
    expect(asksWhen(all, "USD")).toBe("asks about some payments that are made elsewhere");
    expect(said({ ...all, records: { payees: "any" } })).toContain(`${nobody}.`);
    expect(said({ ...all, records: { payees: "any" } })).toContain("Recorded payments go to any payee.");
    const payees = [{ sellerId: "sel_1" }, { kind: "iban" as const, value: "DE89" }];
    expect(said({ ...all, records: { payees, deadline: "P7D" } })).toContain(
      "Recorded payments go to sel_1 or DE89. Ask me about others.\nThey are recorded in 7 days at the latest.",
    );
  });

  test("says at which merchants cards pay", () => {
    const cards: Policy = { ...least, rails: ["x402", "card"] };
    const waits = "A card cannot wait: what a person must clear is declined, and passes once after that.";
    const nobody = "Nobody is asked about payments inside these limits";
    expect(said(cards)).toContain(
      `Only payments by x402 and payments by card.\nA person clears each purchase by card.\n${waits}`,
    );
    expect(said(cards)).toContain(`${nobody}, except about some that are made by card.`);
    expect(said({ ...cards, cards: {} })).toContain("Cards pay at any merchant.");
    expect(said({ ...cards, cards: {} })).not.toContain(waits);
    expect(said({ ...cards, cards: {} })).toContain(`${nobody}.`);
    expect(said({ ...cards, cards: {}, approval: { mode: "above", amount: "25" } })).toContain(
      `Cards pay at any merchant.\n${waits}`,
    );
    expect(said({ ...cards, cards: { categories: ["computer_software_stores", "hotels"], countries: ["DE"] } })).toContain(
      `Cards pay at merchants of the categories computer software stores or hotels and in DE. A person clears other purchases.\n${waits}`,
    );
    expect(said({ ...cards, cards: { merchants: [] } })).toContain("Cards pay at merchants with no network id.");
    expect(asksWhen({ ...cards, rails: ["record", "card"] }, "USD")).toBe(
      "asks about some payments that are made elsewhere or by card",
    );
  });

  test("says every rule", () => {
    const policy: Policy = {
      ...least,
      limits: {
        perPayment: "8",
        total: "1200",
        budgets: [
          { period: "day", timezone, amount: "20" },
          { rolling: "PT24H", amount: "30.5" },
        ],
        counts: [{ period: "day", timezone: "UTC", max: 2000 }],
        cooldownSeconds: 60,
      },
      sellers: { allow: ["sel_1"], deny: ["sel_2"], unregistered: "allow" },
      domains: { allow: ["weather.example", "geo.example"], deny: ["bad.example"] },
      payTo: { allow: ["0xaa"], deny: ["0xbb"] },
      resources: [
        { sellerId: "sel_1", resourceId: "daily" },
        { sellerId: "sel_1", method: "GET", pathTemplate: "/v1/{id}" },
      ],
      schedule: { days: ["monday", "tuesday", "wednesday", "thursday", "friday"], from: "06:00", to: "22:00", timezone },
      approval: { mode: "above", amount: "5" },
      minimumAssuranceLevel: "passkeyApproved",
      requireVerifiedSeller: true,
      maximumFee: { bps: 250 },
      validFrom: "2026-12-01T00:00:00.000Z",
      validUntil: "2027-03-31T22:00:00.000Z",
    };
    expect(said(policy, { agents: ["sa_1", "sa_2"], wallet: "0xcc" })).toBe(
      [
        "Field data agent and Report agent may spend up to 20.00 USDC a day, 30.50 USDC in 24 hours and 1,200.00 USDC in all, at most 8.00 USDC in one payment.",
        "Ask me above 5.00 USDC.",
        "Only at weather.example and geo.example.",
        "A seller must have verified that domain, or the domain itself must name the same payee when we ask it. Sellers and addresses that you list here count as well.",
        "Never at bad.example.",
        "Only to the sellers sel_1.",
        "Never to the sellers sel_2.",
        "Only to the addresses 0xaa.",
        "Never to the addresses 0xbb.",
        "Only for daily and GET /v1/{id}.",
        "Only to sellers whose domain is verified.",
        "Also to sellers that are not registered here.",
        "In USDC on Base Sepolia.",
        "Only from the wallet 0xcc.",
        "At most 2,000 payments a day.",
        "At least 60 seconds between two payments.",
        "The service fee you bear is at most 2.5 % of the price.",
        "Every payment needs a passkey.",
        "Only on weekdays from 06:00 to 22:00, Europe/Vienna time.",
        "Days begin at midnight in their own zone: Europe/Vienna, UTC.",
        "Begins on 1 December 2026, midnight UTC.",
        "Ends on 31 March 2027, 22:00 UTC.",
      ].join("\n"),
    );
  });

  test("says what proves that a seller has an allowed domain", () => {
    const text = said({ ...least, domains: { allow: ["weather.example"] } }, { agents: null });
    expect(text).toContain(
      "Only at weather.example.\nA seller must have verified that domain, or the domain itself must name the same payee when we ask it.\n",
    );
    expect(said({ ...least, domains: { deny: ["bad.example"] } }, { agents: null })).not.toContain("verified");
  });

  test.each([
    [300, "5 minutes"],
    [3_600, "1 hour"],
    [86_400, "24 hours"],
  ])("says how long a request waits: %i seconds", (expiresInSeconds, words) => {
    const text = said({ ...least, approval: { mode: "always", expiresInSeconds } });
    expect(text).toContain(`Ask me about every payment. A request waits ${words}.`);
  });

  test("says if a policy allows nothing", () => {
    const closed = { ...least, domains: { allow: [] }, sellers: { allow: [] }, payTo: { allow: [] }, resources: [] };
    const text = said(closed, { agents: [] });
    for (const line of ["No agent may spend", "At no domain.", "To no registered seller.", "To no address.", "For nothing"])
      expect(text).toContain(line);
  });

  test("shows unfinished input as an ellipsis, never as a wrong number", () => {
    const draft = { ...least, limits: { perPayment: "", total: "1,5" } };
    expect(plainText(summarize(draft, words).may)).toBe("Agents may spend up to … USDC in all, at most … USDC in one payment.");
    const open: Policy = { ...least, limits: { perPayment: "1" } };
    expect(plainText(summarize(open, words).may)).toBe("Agents may spend up to … USDC, at most 1.00 USDC in one payment.");
  });
});

test.each([
  [undefined, "does not ask"],
  [{ mode: "never" as const }, "does not ask"],
  [{ mode: "always" as const }, "asks about every payment"],
  [{ mode: "firstPayment" as const }, "asks about the first payment to a seller"],
  [{ mode: "above" as const, amount: "25" }, "asks above 25.00 USDC"],
])("approval %j %s", (approval, text) => expect(asksWhen({ ...least, ...(approval && { approval }) }, "USDC")).toBe(text));

test.each([
  [["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const, "every day"],
  [["sunday", "saturday"] as const, "at weekends"],
  [["wednesday", "monday"] as const, "on Mondays and Wednesdays"],
  [[] as const, "on no day"],
])("%j is %s", (days, text) => expect(daysWords(days)).toBe(text));

test.each([
  ["total", "in all"],
  ["day Europe/Vienna", "a day"],
  ["PT24H", "in 24 hours"],
  ["PT1H", "in an hour"],
  ["PT720H", "in 30 days"],
  ["PT90M", "in 90 minutes"],
])("the window %s is %s", (window, text) => expect(windowWords(window)).toBe(text));
