import type { MembershipRole, ProductRole } from "#lib/vocabulary.ts";

/* The menu runs in the browser, so this file must not import a schema, which would make the scripts larger. */

/** The longest address that is the path itself or above it. */
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

export const businessOf = (productRoles: readonly ProductRole[]): string =>
  productRoles.length === 2 ? "Buying and selling" : productRoles.includes("seller") ? "Selling" : "Buying";
