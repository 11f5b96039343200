import { describe, expect, test } from "vitest";
import { checkDraft } from "#lib/mandates/draft/check-draft.ts";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import { isTemplate, templateDraft, templateIds, templatesFor } from "#lib/mandates/draft/templates.ts";

const now = new Date("2026-12-28T10:20:30.000Z");
const of = (id: (typeof templateIds)[number]) => templateDraft(id, { coin: "USDC eip155:84532", now });
const policyOf = (id: (typeof templateIds)[number]) => draftTermsOf(of(id)).terms.policy;

describe("a template", () => {
  test.each(templateIds)("%s is a complete draft: it can be saved without a change", (id) => {
    expect(Object.fromEntries(checkDraft(of(id), 6))).toEqual({});
    expect(policyOf(id).approval).toBeDefined();
  });

  test("names its amounts in the asset of the installation", () => {
    expect(templatesFor("USDC").map(({ title }) => title)).toEqual([
      "Research agent: 5 USDC a day",
      "Office supplies: asks above 10",
      "One purchase",
      "Read-only trial",
    ]);
    expect(JSON.stringify(templatesFor("EURC"))).not.toContain("USDC");
  });

  test("One purchase allows one payment in the time that it is valid, also over the end of a year", () => {
    const { limits, validUntil, approval } = policyOf("purchase");
    expect(limits).toMatchObject({ perPayment: "100", total: "100", counts: [{ rolling: "P7D", max: 1 }] });
    expect([validUntil, approval]).toEqual(["2027-01-04T10:20:00.000Z", { mode: "always" }]);
  });

  test("Read-only trial asks a person for every payment and ends", () => {
    expect(policyOf("trial")).toMatchObject({ approval: { mode: "always" }, validUntil: "2027-01-11T10:20:00.000Z" });
  });

  test("an unknown id is not a template", () => {
    expect([isTemplate("trial"), isTemplate("other"), isTemplate(undefined)]).toEqual([true, false, false]);
  });
});
