import type { PlatformRole } from "#lib/vocabulary.ts";

/** The platform roles of a person, in reverse order so that roles with rights come first. */
export const RoleList = ({ roles }: { readonly roles: readonly PlatformRole[] }) => (
  <span className="rolelist">
    {roles.toReversed().map((role) => (
      <span key={role} className="badge" {...(role !== "user" && { "data-tone": "accent" })}>
        {role}
      </span>
    ))}
  </span>
);
