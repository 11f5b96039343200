import type { MembershipRole } from "#lib/vocabulary.ts";
import { roleName } from "#components/shell/menu-words.ts";

/** In the order in which pages list the roles. */
const may: Readonly<Record<MembershipRole, string>> = {
  owner: "May do everything. Only owners can add and change owners.",
  admin: "May do everything but change owners: mandates, approvals, keys, members and billing.",
  approver: "Approves and declines payments that wait, and reads mandates and payments.",
  developer: "Makes and revokes keys, registers sellers and paid resources, and reads everything.",
  finance: "Reads payments, fees and the audit log.",
  viewer: "Reads everything and changes nothing.",
};

export type RoleWords = { readonly role: MembershipRole; readonly name: string; readonly may: string };

export const roles: readonly RoleWords[] = (Object.keys(may) as MembershipRole[]).map((role) => ({
  role,
  name: roleName[role],
  may: may[role],
}));
