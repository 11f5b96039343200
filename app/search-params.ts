/** What Next.js hands to a page. Its own generated types are there only after a build. */
export type SearchParams = Promise<Readonly<Record<string, string | string[] | undefined>>>;
