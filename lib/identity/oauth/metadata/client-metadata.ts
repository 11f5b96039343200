import { z } from "zod";
import { ownOrigins } from "#lib/http/origin.ts";
import { redirectRefusal } from "#lib/identity/oauth/redirect-uri.ts";
import { visible } from "#lib/visible-text.ts";

/** What a program says about itself, when it registers (RFC 7591) or in its metadata document. Other fields are ignored. */
export type Described = { readonly name: string; readonly redirectUris: readonly string[] };

export type Description =
  | { readonly ok: true; readonly client: Described }
  | { readonly ok: false; readonly error: "invalid_redirect_uri" | "invalid_client_metadata"; readonly detail: string };

const NAME_MAX = 100;
const REDIRECTS_MAX = 10;
const WORDS_MAX = 20;

const Words = z.array(z.string().max(200)).max(WORDS_MAX);
const Metadata = z.object({
  redirect_uris: z.array(z.string().min(1).max(1_024)).min(1).max(50),
  client_name: z.string().max(2_000).nullish(),
  grant_types: Words.nullish(),
  response_types: Words.nullish(),
});

const wrong = (detail: string): Description => ({ ok: false, error: "invalid_client_metadata", detail });
const wrongRedirect = (detail: string): Description => ({ ok: false, error: "invalid_redirect_uri", detail });

/** A stranger chose the name, so it is one line of visible characters. */
function nameOf(given: string | null | undefined): string {
  const name = visible((given ?? "").replaceAll(/\s+/g, " ")).trim();
  return [...name].slice(0, NAME_MAX).join("").trim() || "Unnamed program";
}

/** A code that is sent to this service itself could not be distinguished from the redirect to the page that asks the person. */
export const codeRefusal = (uri: string): string | null =>
  redirectRefusal(uri) ??
  (ownOrigins().includes(new URL(uri).origin) ? "Authorization codes cannot be sent to this service itself." : null);

/** `whole` refuses metadata with one redirect URI that is refused; otherwise only the URI is left out. */
export function describedBy(metadata: unknown, { whole }: { readonly whole: boolean }): Description {
  const parsed = Metadata.safeParse(metadata);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path ?? [];
    const detail = `${path.length === 0 ? "The metadata" : path.join("/")}: ${parsed.error.issues[0]?.message}.`;
    return path[0] === "redirect_uris" ? wrongRedirect(detail) : wrong(detail);
  }
  const { redirect_uris, client_name, grant_types, response_types } = parsed.data;
  if (grant_types && !grant_types.includes("authorization_code")) return wrong("Ask for the grant type authorization_code.");
  if (response_types && !response_types.includes("code")) return wrong("Ask for the response type code.");
  const given = [...new Set(redirect_uris)];
  const refused = given.flatMap((uri) => codeRefusal(uri) ?? []);
  if (refused.length > 0 && (whole || refused.length === given.length)) return wrongRedirect(refused[0] ?? "");
  const redirectUris = given.filter((uri) => codeRefusal(uri) === null);
  if (redirectUris.length > REDIRECTS_MAX) return wrongRedirect(`Send at most ${REDIRECTS_MAX} redirect addresses.`);
  return { ok: true, client: { name: nameOf(client_name), redirectUris } };
}
