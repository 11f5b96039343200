/** The page types that Next.js generates are not used, because they do not exist before Next.js has run. */
export type SearchParams = Promise<Readonly<Record<string, string | string[] | undefined>>>;

/** The value of a parameter that occurs exactly once and is not empty; otherwise undefined. */
export const oneOf = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
