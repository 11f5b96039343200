import { Problem } from "#lib/problem.ts";
import { PlatformRole } from "#lib/vocabulary.ts";

type Change = { readonly self: boolean; readonly current: readonly PlatformRole[]; readonly asked: readonly PlatformRole[] };

/** Everybody has the role `user`. @throws Problem forbidden if a person would give themselves a role */
export function rolesAfter({ self, current, asked }: Change): PlatformRole[] {
  const next = PlatformRole.options.filter((role) => role === "user" || asked.includes(role));
  if (self && next.some((role) => role !== "user" && !current.includes(role))) {
    throw new Problem("forbidden", { detail: "You cannot give yourself a platform role. Ask another admin." });
  }
  return next;
}
