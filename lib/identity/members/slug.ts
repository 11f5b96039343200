const SLUG_MAX = 40;

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
