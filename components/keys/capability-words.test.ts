import { describe, expect, test } from "vitest";
import { agentSet, grantCapabilities, keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import { Capability } from "#lib/vocabulary.ts";
import { capabilityGroups, excludedBy, isSame, mayText, presetsOf } from "./capability-words.ts";

const offered = capabilityGroups.flatMap(({ capabilities }) => capabilities);

describe("the capabilities of a key on its page", () => {
  test("everything that a key may have is offered once, and nothing that is for persons only", () => {
    expect(offered.toSorted()).toEqual([...keyCapabilitiesOf(Capability.options)].toSorted());
  });

  test("the pairs of capabilities that the page does not allow are those that the service refuses", () => {
    const everything = new Set(Capability.options);
    for (const one of offered) {
      for (const other of offered) {
        const grant = () => grantCapabilities([one, other], everything);
        if (excludedBy(one, [other]) === null) expect(grant).not.toThrow();
        else expect(grant).toThrow();
      }
    }
  });

  test("each preset can be granted, and Pays is what an agent gets without a choice", () => {
    const everything = new Set(Capability.options);
    const presets = presetsOf(offered);
    expect(presets.map(({ name }) => name)).toEqual(["Pays", "Looks only", "Sells"]);
    for (const { capabilities } of presets) expect(() => grantCapabilities([...capabilities], everything)).not.toThrow();
    expect(isSame(presets[0]?.capabilities ?? [], [...agentSet])).toBe(true);
  });

  test("a preset offers only what can be granted, and is left out if only reading remains of it", () => {
    expect(presetsOf(["payments:read", "sellers:read", "sellers:manage"])).toMatchObject([
      { name: "Looks only", capabilities: ["payments:read", "sellers:read"] },
      { name: "Sells", capabilities: ["sellers:manage", "payments:read", "sellers:read"] },
    ]);
  });

  test.each([
    [["payments:authorize", "payments:read"], "pay"],
    [["payments:execute"], "pay"],
    [["payments:settle"], "settle payments"],
    [["payments:read"], "list payments"],
  ])("a key with %j can %s, and so cannot create mandates", (chosen, act) => {
    expect(excludedBy("mandates:create", chosen)).toBe(`A key that can ${act} cannot also create mandates`);
  });

  test.each([
    [["payments:authorize", "payments:execute", "orders:place", "payments:read"], "Pay and order"],
    [["payments:read"], "List payments"],
    [["payments:read", "mandates:read"], "Read only"],
    [["sellers:manage", "payments:settle", "mandates:create"], "Draft mandates, sell, and settle"],
    [[], "Nothing"],
  ] as [Capability[], string][])("%j reads as %s", (capabilities, text) => {
    expect(mayText(capabilities)).toBe(text);
  });
});
