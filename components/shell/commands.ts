import type { Found } from "#lib/search/contract.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { entriesFor, actionsFor } from "./navigation.ts";
import type { Theme } from "./theme.ts";

/** What choosing a line of the palette does. */
export type Act =
  | { readonly go: string }
  | { readonly activate: string }
  | { readonly theme: Theme | undefined }
  | { readonly signOut: true };

export type Command = { readonly value: string; readonly label: string; readonly hint?: string; readonly act: Act };
export type CommandGroup = { readonly value: string; readonly items: readonly Command[] };

const open = (label: string, href: string, hint?: string): Command => ({
  value: href,
  label,
  ...(hint !== undefined && { hint }),
  act: { go: href },
});

const themes: readonly Command[] = (
  [
    ["System", undefined],
    ["Light", "light"],
    ["Dark", "dark"],
  ] as const
).map(([name, theme]) => ({ value: `theme:${name}`, label: `Theme: ${name.toLowerCase()}`, act: { theme } }));

/** Everything that this person may open or do from anywhere, in the order of the menu. */
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

/** The groups with the lines that contain every word that was written. */
export function matching(groups: readonly CommandGroup[], text: string): readonly CommandGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label, hint = "" }: Command) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word));
  return groups.map(({ value, items }) => ({ value, items: items.filter(fits) })).filter(({ items }) => items.length > 0);
}

const kinds = {
  mandate: { word: "Mandate", href: ({ id }: Found) => `/mandates/${id}` },
  payment: { word: "Payment", href: ({ id }: Found) => `/payments/${id}` },
  resource: { word: "Resource", href: ({ id, sellerId = "" }: Found) => `/seller/resources/${sellerId}/${id}` },
} as const satisfies Record<Found["type"], { word: string; href: (found: Found) => string }>;

/** What the organization has under that name or id. */
export const foundCommands = (found: readonly Found[]): CommandGroup => ({
  value: "Found",
  items: found.map((one) => open(one.name, kinds[one.type].href(one), `${kinds[one.type].word}, ${one.id}`)),
});
