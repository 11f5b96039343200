import type { Found } from "#lib/search/contract.ts";
import type { Theme } from "./theme.ts";

export type Act =
  | { readonly go: string }
  /** The id of the organization to switch to. */
  | { readonly activate: string }
  /** The theme to use; undefined for the theme of the system. */
  | { readonly theme: Theme | undefined }
  | { readonly signOut: true };

export type Command = { readonly value: string; readonly label: string; readonly hint?: string; readonly act: Act };
export type CommandGroup = { readonly value: string; readonly items: readonly Command[] };

export const open = (label: string, href: string, hint?: string): Command => ({
  value: href,
  label,
  ...(hint !== undefined && { hint }),
  act: { go: href },
});

export function matching(groups: readonly CommandGroup[], text: string): readonly CommandGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label, hint = "" }: Command) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word));
  return groups.map(({ value, items }) => ({ value, items: items.filter(fits) })).filter(({ items }) => items.length > 0);
}

const kinds = {
  mandate: { word: "Mandate", href: ({ id }) => `/mandates/${id}` },
  payment: { word: "Payment", href: ({ id }) => `/payments/${id}` },
  resource: { word: "Resource", href: ({ id, sellerId = "" }) => `/seller/resources/${sellerId}/${id}` },
  payee: { word: "Payee", href: ({ id }) => `/payments?seller=${encodeURIComponent(id)}` },
  request: { word: "Request for approval", href: ({ id }) => `/checkout/${id}` },
  agent: { word: "Agent", href: ({ id }) => `/settings/keys/${id}` },
  member: { word: "Member", href: ({ id }) => `/settings/members#${id}` },
  seller: { word: "Seller", href: () => "/seller/settings" },
} as const satisfies Record<Found["type"], { word: string; href: (found: Found) => string }>;

/** A payee's id is its domain, which is its name already. */
const hintOf = ({ type, id, name }: Found): string => (id === name ? kinds[type].word : `${kinds[type].word}, ${id}`);

export const foundCommands = (found: readonly Found[]): CommandGroup => ({
  value: "Found",
  items: found.map((one) => ({ ...open(one.name, kinds[one.type].href(one), hintOf(one)), value: `${one.type}:${one.id}` })),
});
