import { cutCapabilities, keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import type { ConnectionRow } from "#lib/identity/oauth/connection-store.ts";
import type { Connection } from "#lib/identity/oauth/contract.ts";
import { CLI_CLIENT } from "#lib/identity/oauth-terms.ts";
import { toWire } from "#lib/time.ts";

const clientNameOf = ({ clientId, clientName }: ConnectionRow): string =>
  clientName ?? (clientId === CLI_CLIENT.clientId ? CLI_CLIENT.name : clientId);

export const presentConnection = (row: ConnectionRow): Connection => ({
  connectionId: row.connectionId,
  clientId: row.clientId,
  clientName: clientNameOf(row),
  serviceAccountId: row.serviceAccountId,
  serviceAccountName: row.serviceAccountName,
  capabilities: [...cutCapabilities(keyCapabilitiesOf(row.capabilities), row.scopes)],
  connectedBy: row.connectedBy,
  connectedByName: row.connectedByName ?? row.connectedBy,
  connectedAt: toWire(row.connectedAt),
  ...(row.lastUsedAt && { lastUsedAt: toWire(row.lastUsedAt) }),
});
