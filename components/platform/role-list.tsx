import { badgeClass } from "#components/ui/badge.tsx";
import type { PlatformRole } from "#lib/vocabulary.ts";

/** In reverse order, so that the roles with most rights come first. */
export const RoleList = ({ roles }: { readonly roles: readonly PlatformRole[] }) => (
  <span className="flex flex-wrap gap-1 max-md:in-[.stacks]:justify-end">
    {roles.toReversed().map((role) => (
      <span key={role} className={badgeClass(role === "user" ? undefined : "accent")}>
        {role}
      </span>
    ))}
  </span>
);
