const SLUG_MAX = 40;

/** Makes a slug from a name: lower-case ASCII letters, digits and hyphens, or "organization" if the name has none of these. */
export function deriveSlug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9\s_.-]/g, "")
    .replace(/[\s_.-]+/g, "-")
    .slice(0, SLUG_MAX)
    .replace(/^-|-$/g, "");
  return plain === "" ? "organization" : plain;
}
