/** The search parameters that Next.js passes to a page. Its generated types exist only after a build. */
export type SearchParams = Promise<Readonly<Record<string, string | string[] | undefined>>>;

/** The value of a parameter that occurs once and is not empty. */
export const oneOf = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
