const HERE = /^(localhost|.*\.localhost|127\.[0-9.]+|\[::1\]|0\.0\.0\.0)$/;

/** The URL contains no session: the person signs in on the phone. */
export type PhoneLink = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly detail: string };

export function phoneLink(baseUrl: string, path: string): PhoneLink {
  const { protocol, hostname, origin } = new URL(baseUrl);
  if (HERE.test(hostname)) return refused(`${origin} is an address of this machine, so a phone cannot open it.`);
  if (protocol !== "https:") return refused(`${origin} has no https, so a phone cannot sign in there safely.`);
  return { ok: true, url: new URL(path, origin).href };
}

const refused = (why: string): PhoneLink => ({
  ok: false,
  detail: `${why} Set BASE_URL to an https address that the phone reaches.`,
});
