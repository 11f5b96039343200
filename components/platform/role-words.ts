import type { PlatformRole } from "#lib/vocabulary.ts";

export const platformRoles: readonly { readonly role: PlatformRole; readonly may: string }[] = [
  { role: "user", may: "Everyone has it. It gives no right on the platform." },
  { role: "support", may: "Reads people and ends their sessions." },
  { role: "auditor", may: "Reads people, and reads and verifies every audit chain." },
  { role: "operator", may: "Bans people, ends sessions, verifies sellers and revokes in an emergency." },
  { role: "admin", may: "Everything on these pages, including roles, fee schedules and plans." },
];

/** The least length of an administrator's reason, in characters. */
export const REASON_MIN = 10;
