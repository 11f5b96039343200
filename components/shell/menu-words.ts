import type { MembershipRole, ProductRole } from "#lib/vocabulary.ts";

/* Used by the menu in the browser, so this file must not import a schema. */

/** The menu entry that a path belongs to: the entry with the longest matching address. */
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

/** The organization's product roles in words. */
export const businessOf = (productRoles: readonly ProductRole[]): string =>
  productRoles.length === 2 ? "Buying and selling" : productRoles.includes("seller") ? "Selling" : "Buying";
