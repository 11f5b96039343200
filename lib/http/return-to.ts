/** An origin that no page has: what resolves to another one was not a path. */
const HERE = "http://here.invalid";

/** Browsers read a backslash as a slash, and drop tabs and line breaks inside an address. */
const TWISTED = /[\\\s\p{Cc}]/u;
/** The same in a path, for whoever decodes it once more. In a query it is text: a page to come back to may name another one. */
const TWISTED_PATH = /^[^?#]*%(?:5c|2f|0[0-9a-f]|1[0-9a-f])/i;

/**
 * Where to go after signing in: a path of this origin, else the fallback. Whatever names a host, a scheme or a place that is no page
 * is dropped, so a link to us never sends a person elsewhere.
 */
export function returnTo(given: string | readonly string[] | undefined, fallback = "/"): string {
  if (typeof given !== "string" || given.length > 1024 || !given.startsWith("/")) return fallback;
  if (TWISTED.test(given) || TWISTED_PATH.test(given)) return fallback;
  const url = URL.parse(given, HERE);
  if (url === null || url.origin !== HERE || url.username !== "" || url.pathname.startsWith("//")) return fallback;
  if (/^\/(?:api|_next)(?:\/|$)/i.test(url.pathname)) return fallback;
  return url.pathname + url.search + url.hash;
}

/** The address of a page that comes back to `path`. */
export const withReturnTo = (page: string, path: string, more: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams({ ...(path !== "/" && { returnTo: path }), ...more });
  return query.size === 0 ? page : `${page}?${query}`;
};
