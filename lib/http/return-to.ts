/** An origin that no page has: if a path that is resolved against it gets another origin, it was no path. */
const HERE = "http://here.invalid";

/** Large, because the path may have an OAuth request in its query. */
export const LENGTH_MAX = 2_048;

/** Browsers read a backslash in a URL as a slash, and drop tabs and line breaks. */
const TWISTED = /[\\\s\p{Cc}]/u;
/** Encoded backslashes, slashes and control characters before the query and fragment, in case the path is decoded again. */
const TWISTED_PATH = /^[^?#]*%(?:5c|2f|0[0-9a-f]|1[0-9a-f])/i;

/** Returns `given` if it is a path here outside /api and /_next, else `fallback`, so that no link leads to another site. */
export function returnTo(given: string | readonly string[] | undefined, fallback = "/"): string {
  if (typeof given !== "string" || given.length > LENGTH_MAX || !given.startsWith("/")) return fallback;
  if (TWISTED.test(given) || TWISTED_PATH.test(given)) return fallback;
  const url = URL.parse(given, HERE);
  if (url === null || url.origin !== HERE || url.username !== "" || url.pathname.startsWith("//")) return fallback;
  if (/^\/(?:api|_next)(?:\/|$)/i.test(url.pathname)) return fallback;
  return url.pathname + url.search + url.hash;
}

export const withReturnTo = (page: string, path: string, more: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams({ ...(path !== "/" && { returnTo: path }), ...more });
  return query.size === 0 ? page : `${page}?${query}`;
};
