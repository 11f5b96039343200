import type { Session } from "#lib/identity/session-schema.ts";
import { open, type CommandGroup, type Command } from "./commands.ts";
import { actionsFor, entriesFor } from "./navigation.ts";

const themes: readonly Command[] = (
  [
    ["System", undefined],
    ["Light", "light"],
    ["Dark", "dark"],
  ] as const
).map(([name, theme]) => ({ value: `theme:${name}`, label: `Theme: ${name.toLowerCase()}`, act: { theme } }));

export function commandsFor(session: Session): readonly CommandGroup[] {
  const pages = [...entriesFor("organization", session), ...entriesFor("platform", session)];
  const others = session.organizations.filter(
    ({ organizationId }) => organizationId !== session.activeOrganization?.organizationId,
  );
  return [
    { value: "Pages", items: pages.map(({ label, href, group }) => open(label, href, group)) },
    { value: "Actions", items: actionsFor(session).map(({ label, href }) => open(label, href)) },
    {
      value: "Organizations",
      items: others.map(({ organizationId, name }) => ({
        value: organizationId,
        label: `Switch to ${name}`,
        act: { activate: organizationId },
      })),
    },
    { value: "You", items: [...themes, { value: "sign-out", label: "Sign out", act: { signOut: true } }] },
  ];
}
