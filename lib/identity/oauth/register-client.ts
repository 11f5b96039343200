import { clock, transact } from "#lib/audit/transact.ts";
import { widerNetworks } from "#lib/http/address.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { describedBy, type Described } from "#lib/identity/oauth/metadata/client-metadata.ts";
import { admitClient, findClient, type ClientRow } from "#lib/identity/oauth/client-store.ts";
import { cachedDocument, isDocumentAddress, readDocument } from "#lib/identity/oauth/metadata/metadata-document.ts";
import { newId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";

/* Clients that no organization registered. Such a client has no rights; a person's consent alone connects it. */

/** For each network address, and for the wider networks around it: one owner of a network must not take all places. */
const EACH = { most: [20, 60, 200], windowSeconds: 900 };
/** Clients that wait for a first person, of all addresses together. */
const WAITING_MAX = 5_000;

/** A try that a network refuses takes nothing from the share of a wider one. @throws Problem rate_limited */
async function countNew(address: string): Promise<void> {
  const { most, windowSeconds } = EACH;
  const networks = [address, ...widerNetworks(address)];
  for (const [at, network] of networks.entries()) await countAttempt("newClient", network, most[at] ?? 0, { windowSeconds });
}

/** @throws Problem rate_limited */
async function admit(clientId: string, { name, redirectUris }: Described): Promise<ClientRow> {
  const row = { clientId, organizationId: null, name, redirectUris, createdBy: null };
  const admitted = await transact(async (tx) => {
    const client = { ...row, createdAt: await clock(tx) };
    return (await admitClient(tx, client, WAITING_MAX)) ? client : null;
  });
  if (admitted) return admitted;
  throw new Problem("rate_limited", {
    detail: "Too many programs wait for a person who allows them. Wait ten minutes and try again.",
    retryAfterSeconds: 600,
    nextActions: [{ type: "retry_later", label: "Wait and try again" }],
  });
}

export type Registered =
  | { readonly ok: true; readonly client: ClientRow }
  | { readonly ok: false; readonly error: string; readonly detail: string };

/** Dynamic registration (RFC 7591). @throws Problem rate_limited */
export async function registerClient(metadata: unknown, address: string): Promise<Registered> {
  const described = describedBy(metadata, { whole: true });
  if (!described.ok) return described;
  await countNew(address);
  return { ok: true, client: await admit(newId("agentClient"), described.client) };
}

const isSame = (client: ClientRow, { name, redirectUris }: Described): boolean =>
  client.name === name && client.redirectUris.join("\n") === redirectUris.join("\n");

/**
 * Stores what the metadata document of a client says now, so that everything else reads the row. Does nothing for other clients.
 * Returns false if the document cannot be used. @throws Problem rate_limited
 */
export async function admitDocument(clientId: string, address: string): Promise<boolean> {
  if (!isDocumentAddress(clientId)) return true;
  let described = cachedDocument(clientId);
  if (!described) {
    await countNew(address);
    described = await readDocument(clientId, address);
  }
  if (!described) return false;
  const known = await findClient(clientId);
  if (!known || !isSame(known, described)) await admit(clientId, described);
  return true;
}
