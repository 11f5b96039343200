import { describe, expect, test } from "vitest";
import { isNarrowed, readPaymentFilter, readSearch } from "#lib/payments/payment-filter.ts";

const id = "01kaj4n7v8e2m0x3c9t5q6r7sa";
const hash = `0x${"Ab".repeat(32)}`;

describe("the searched text", () => {
  test.each([
    [`aut_${id}`, { kind: "id", of: "authorization", id: `aut_${id}` }],
    [` EXE_${id.toUpperCase()} `, { kind: "id", of: "execution", id: `exe_${id}` }],
    [`rsv_${id}`, { kind: "id", of: "reservation", id: `rsv_${id}` }],
    [`cki_${id}`, { kind: "id", of: "checkout", id: `cki_${id}` }],
    [`ord_${id}`, { kind: "id", of: "order", id: `ord_${id}` }],
    [`mdt_${id}`, { kind: "text", text: `mdt_${id}` }],
    [hash, { kind: "transaction", hash: hash.toLowerCase() }],
    ["20.20", { kind: "amount", amount: "20.20" }],
    ["1,200.5 USDC", { kind: "amount", amount: "1200.5" }],
    ["20.20usdc", { kind: "amount", amount: "20.20" }],
    ["report-2026-11-21-0001", { kind: "text", text: "report-2026-11-21-0001" }],
    ["Acme.example", { kind: "text", text: "Acme.example" }],
    ["0x12", { kind: "text", text: "0x12" }],
  ])("%s is recognized by its form", (typed, found) => expect(readSearch(typed)).toEqual(found));

  test.each(["", "  ", "%", "a b", "'; --", "é", "a".repeat(129), "\u0000"])("%j finds nothing", (typed) =>
    expect(readSearch(typed)).toBeNull(),
  );
});

describe("the filter in a URL", () => {
  test("reads every name, and a day to its end", () => {
    expect(
      readPaymentFilter({
        q: "20",
        mandate: `mdt_${id}`,
        agent: `sa_${id}`,
        seller: "ACME.example",
        outcome: "deny",
        settlement: "unknown",
        createdFrom: "2026-11-01",
        createdTo: "2026-11-21",
      }),
    ).toEqual({
      search: { kind: "amount", amount: "20" },
      mandateId: `mdt_${id}`,
      subjectId: `sa_${id}`,
      domain: "acme.example",
      outcome: "deny",
      settlementStatus: "unknown",
      since: new Date("2026-11-01T00:00:00.000Z"),
      until: new Date("2026-11-22T00:00:00.000Z"),
    });
  });

  test("takes the first of several values, and ignores invalid ones", () => {
    expect(readPaymentFilter({ outcome: ["allow", "deny"] })).toEqual({ outcome: "allow" });
    const wrong = {
      outcome: "maybe",
      settlement: "",
      createdFrom: "2026-02-30",
      createdTo: "yesterday",
      seller: "a b",
      mandate: "%",
    };
    expect(readPaymentFilter(wrong)).toEqual({});
    expect(isNarrowed(readPaymentFilter(wrong))).toBe(false);
    expect(isNarrowed(readPaymentFilter({ seller: "acme.example" }))).toBe(true);
  });
});
