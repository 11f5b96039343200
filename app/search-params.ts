/** What Next.js hands to a page. Its own generated types are there only after a build. */
export type SearchParams = Promise<Readonly<Record<string, string | string[] | undefined>>>;

/** A parameter that stands there once and says something. */
export const oneOf = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
