import { Problem } from "#lib/problem.ts";
import { PlatformRole, type PlatformRole as Role } from "#lib/vocabulary.ts";

type Change = { readonly self: boolean; readonly before: readonly Role[]; readonly asked: readonly Role[] };

/**
 * The roles of a person after a change, in the order of the list; `user` always stays.
 * @throws Problem forbidden if a person would give themselves a role
 */
export function rolesAfter({ self, before, asked }: Change): Role[] {
  const after = PlatformRole.options.filter((role) => role === "user" || asked.includes(role));
  if (self && after.some((role) => role !== "user" && !before.includes(role))) {
    throw new Problem("forbidden", { detail: "You cannot give yourself a platform role. Ask another admin." });
  }
  return after;
}
