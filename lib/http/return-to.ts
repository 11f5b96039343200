/** An origin that no page has. A path is resolved against it, so if the result has another origin, the input was not a path. */
const HERE = "http://here.invalid";

/** The maximum length of a path to return to. It is large, because the path may have an OAuth request in its query. */
export const LENGTH_MAX = 2_048;

/** Finds characters that browsers change in an address: they read a backslash as a slash, and drop tabs and line breaks. */
const TWISTED = /[\\\s\p{Cc}]/u;
/**
 * Finds backslashes, slashes and control characters that are percent-encoded in the path, in case the path is decoded again. They
 * are allowed in the query, which may contain another path to return to.
 */
const TWISTED_PATH = /^[^?#]*%(?:5c|2f|0[0-9a-f]|1[0-9a-f])/i;

/**
 * Returns the path to open after sign-in: the given path if it is a page of this service, otherwise the fallback. This way, a
 * link to this service never sends a person to another site.
 */
export function returnTo(given: string | readonly string[] | undefined, fallback = "/"): string {
  if (typeof given !== "string" || given.length > LENGTH_MAX || !given.startsWith("/")) return fallback;
  if (TWISTED.test(given) || TWISTED_PATH.test(given)) return fallback;
  const url = URL.parse(given, HERE);
  if (url === null || url.origin !== HERE || url.username !== "" || url.pathname.startsWith("//")) return fallback;
  if (/^\/(?:api|_next)(?:\/|$)/i.test(url.pathname)) return fallback;
  return url.pathname + url.search + url.hash;
}

/** Makes the URL of a page that leads back to `path` when the person is done. */
export const withReturnTo = (page: string, path: string, more: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams({ ...(path !== "/" && { returnTo: path }), ...more });
  return query.size === 0 ? page : `${page}?${query}`;
};
