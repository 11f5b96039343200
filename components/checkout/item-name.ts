import type { LineView } from "#lib/approvals/checkout-view.ts";

/** How a sentence names an item: the seller's title, or the path of an address at the payee. Null if there is only the payee. */
export function itemName({ title, name }: Pick<LineView, "title" | "name">, domain: string): string | null {
  if (title !== undefined) return title.replace(/^(?:An?|The) /, (article) => article.toLowerCase());
  if (name === domain) return null;
  if (!URL.canParse(name)) return name;
  const { host, pathname, search } = new URL(name);
  if (host !== domain) return name;
  return pathname === "/" && search === "" ? null : pathname + search;
}
