import { Problem } from "#lib/problem.ts";
import { PlatformRole, type PlatformRole as Role } from "#lib/vocabulary.ts";

type Change = { readonly self: boolean; readonly before: readonly Role[]; readonly asked: readonly Role[] };

/**
 * The roles that a person has after a change, in the order of the list: `user` stays.
 * @throws Problem forbidden when somebody would raise himself
 */
export function rolesAfter({ self, before, asked }: Change): Role[] {
  const after = PlatformRole.options.filter((role) => role === "user" || asked.includes(role));
  if (self && after.some((role) => role !== "user" && !before.includes(role))) {
    throw new Problem("forbidden", { detail: "You cannot give yourself a platform role. Ask another admin." });
  }
  return after;
}
