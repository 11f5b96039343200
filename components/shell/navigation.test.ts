import { globSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { currentOf } from "#components/shell/menu-words.ts";
import { entries, entriesFor, homeOf, type Viewer } from "#components/shell/navigation.ts";
import { exampleSession } from "#lib/identity/session-schema.ts";
import { Capability, PlatformCapability } from "#lib/vocabulary.ts";

const nobody: Viewer = { ...exampleSession, organizations: [], productRoles: [], capabilities: [], platformCapabilities: [] };
const owner: Viewer = { ...exampleSession, productRoles: ["buyer", "seller"], capabilities: [...Capability.options] };

describe("navigation", () => {
  test("every entry leads to a page that exists, and no two entries to the same page", () => {
    const files = globSync("app/**/page.tsx").map((file) => file.replaceAll(/^app|\/\([^)]+\)|\/page\.tsx$/g, ""));
    expect(entries.map(({ href }) => href).filter((href) => !new Set(files).has(href))).toEqual([]);
    expect(new Set(entries.map(({ href }) => href)).size).toBe(entries.length);
  });

  test("a page is not offered to a person who lacks the capability or the role for it", () => {
    expect(entriesFor("platform", owner)).toEqual([]);
    const seller = entriesFor("organization", { ...owner, productRoles: ["seller"] }).map(({ group }) => group);
    expect(seller).not.toContain("Buying");
    const without = entriesFor("organization", { ...owner, capabilities: [] });
    expect(without.every(({ capability }) => capability === undefined)).toBe(true);
  });

  test("a person starts at the buyer's home, else at the seller's, else at the platform's, else at onboarding", () => {
    expect(homeOf(owner)).toBe("/home");
    expect(homeOf({ ...owner, productRoles: ["seller"] })).toBe("/seller");
    expect(homeOf({ ...nobody, platformCapabilities: [...PlatformCapability.options] })).toBe("/admin");
    expect(homeOf(nobody)).toBe("/onboarding");
  });

  test("the menu marks the entry with the longest address that the path begins with", () => {
    const hrefs = ["/seller", "/seller/resources", "/home"];
    expect(currentOf("/seller/resources/sel_1/a", hrefs)).toBe("/seller/resources");
    expect(currentOf("/seller/fees", hrefs)).toBe("/seller");
    expect(currentOf("/sellers", hrefs)).toBeUndefined();
  });
});
