import { actFor } from "#lib/db/request.ts";
import { describedBy, type Described } from "#lib/identity/oauth/metadata/client-metadata.ts";
import { installedFetch, outboundRules, standardLimits } from "#lib/outbound/guarded-fetch.ts";
import { outboundTarget } from "#lib/outbound/outbound-address.ts";
import { replyCache } from "#lib/outbound/reply-cache.ts";
import { isProblem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

/* Clients whose id is the address of a JSON document that describes them (Client ID Metadata Documents). */

const ADDRESS_MAX = 512;
const CACHE = { lifeMs: 300_000, bytes: 4 * 1024 * 1024 };

/** A network address has a share of these requests, because nobody is signed in when a document is read. */
const places = {
  total: { most: 32, each: 4, kept: 8 },
  host: { most: 4, each: 2, kept: 1 },
  waiting: { most: 128, each: 8, kept: 32 },
  waitingForHost: { most: 16, each: 4, kept: 4 },
};

const state = () =>
  perProcess("identity/oauth/metadata/metadata-document", () => ({
    // A document must answer at its own address, so redirects are not followed.
    fetch: installedFetch({ ...standardLimits, bodyBytes: 64 * 1024, redirects: 0, places }),
    cache: replyCache<Described>(CACHE),
  }));

/** An address has one spelling and a path, so that no two ids name the same client. */
export function isDocumentAddress(clientId: string): boolean {
  if (clientId.length > ADDRESS_MAX || !/^https?:\/\/[^?#]+$/.test(clientId)) return false;
  const target = outboundTarget(clientId, outboundRules());
  return target.ok && target.url.href === clientId && target.url.pathname !== "/";
}

export const cachedDocument = (clientId: string): Described | null => state().cache.get(clientId);

/** Null if the document cannot be read, names another client_id, asks for a secret or has no redirect URI that is allowed. */
export async function readDocument(clientId: string, address: string): Promise<Described | null> {
  const { fetch, cache } = state();
  try {
    const { status, json, text } = await actFor(`address ${address}`, () => fetch(clientId));
    if (status !== 200 || typeof json !== "object" || json === null) return null;
    const { client_id, client_secret, token_endpoint_auth_method: method } = json as Readonly<Record<string, unknown>>;
    if (client_id !== clientId || client_secret !== undefined || (method ?? "none") !== "none") return null;
    const described = describedBy(json, { whole: false });
    if (!described.ok) return null;
    cache.set(clientId, described.client, text.length * 2);
    return described.client;
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
}
