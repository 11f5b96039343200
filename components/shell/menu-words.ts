import type { MembershipRole, ProductRole } from "#lib/vocabulary.ts";

/* What the menu needs in a browser: nothing here loads a schema. */

/** The entry that a path belongs to: itself, or the nearest one above it. */
export const currentOf = (path: string, hrefs: readonly string[]): string | undefined =>
  hrefs.filter((href) => path === href || path.startsWith(`${href}/`)).toSorted((a, b) => b.length - a.length)[0];

export const roleName: Readonly<Record<MembershipRole, string>> = {
  owner: "Owner",
  admin: "Admin",
  approver: "Approver",
  developer: "Developer",
  finance: "Finance",
  viewer: "Viewer",
};

/** What an organization does here, in one line. */
export const businessOf = (productRoles: readonly ProductRole[]): string =>
  productRoles.length === 2 ? "Buying and selling" : productRoles.includes("seller") ? "Selling" : "Buying";
