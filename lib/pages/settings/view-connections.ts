import type { MemberCaller } from "#lib/http/operation.ts";
import { clientsOf } from "#lib/identity/oauth/client-store.ts";
import { connectionsOf } from "#lib/identity/oauth/connection-store.ts";
import type { AgentClient, Connection } from "#lib/identity/oauth/contract.ts";
import { presentClient } from "#lib/identity/oauth/present-client.ts";
import { presentConnection } from "#lib/identity/oauth/present-connection.ts";
import { mcpResource } from "#lib/identity/oauth-terms.ts";

const ROWS = 100;

export type ConnectionsView = {
  readonly address: string;
  readonly clients: readonly AgentClient[];
  readonly connections: readonly Connection[];
};

/** The page must have checked that the person may see the organization's programs. */
export async function viewConnections({ organizationId }: MemberCaller): Promise<ConnectionsView> {
  const [clients, connections] = await Promise.all([clientsOf(organizationId, ROWS), connectionsOf(organizationId, ROWS)]);
  return { address: mcpResource(), clients: clients.map(presentClient), connections: connections.map(presentConnection) };
}
