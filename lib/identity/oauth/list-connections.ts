import type { Handler } from "#lib/http/operation.ts";
import { connectionsOf } from "#lib/identity/oauth/connection-store.ts";
import type * as contract from "#lib/identity/oauth/contract.ts";
import { presentConnection } from "#lib/identity/oauth/present-connection.ts";

const ROWS = 100;

export const listConnections: Handler<typeof contract.listConnections> = async (_, { caller }) => ({
  items: (await connectionsOf(caller.organizationId, ROWS)).map(presentConnection),
});
