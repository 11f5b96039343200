/** The origin that paths are resolved against. No page has it, so an input that resolves to another origin is not a path. */
const HERE = "http://here.invalid";

/** Matches characters that browsers change in an address: they read a backslash as a slash, and drop tabs and line breaks. */
const TWISTED = /[\\\s\p{Cc}]/u;
/**
 * Matches the same characters percent-encoded in a path, in case the path is decoded again. They are allowed in a query, which may contain
 * another return path.
 */
const TWISTED_PATH = /^[^?#]*%(?:5c|2f|0[0-9a-f]|1[0-9a-f])/i;

/**
 * The path to open after sign-in: a path of this origin, else the fallback. An input with a host or a scheme, or a path that is not a
 * page, is dropped, so that a link to this service never sends a person to another site.
 */
export function returnTo(given: string | readonly string[] | undefined, fallback = "/"): string {
  if (typeof given !== "string" || given.length > 1024 || !given.startsWith("/")) return fallback;
  if (TWISTED.test(given) || TWISTED_PATH.test(given)) return fallback;
  const url = URL.parse(given, HERE);
  if (url === null || url.origin !== HERE || url.username !== "" || url.pathname.startsWith("//")) return fallback;
  if (/^\/(?:api|_next)(?:\/|$)/i.test(url.pathname)) return fallback;
  return url.pathname + url.search + url.hash;
}

/** The address of a page that returns to `path`. */
export const withReturnTo = (page: string, path: string, more: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams({ ...(path !== "/" && { returnTo: path }), ...more });
  return query.size === 0 ? page : `${page}?${query}`;
};
