import type { Handler } from "#lib/http/operation.ts";
import { clientsOf } from "#lib/identity/oauth/client-store.ts";
import type * as contract from "#lib/identity/oauth/contract.ts";
import { presentClient } from "#lib/identity/oauth/present-client.ts";

/** An organization cannot have as many clients as this (createAgentClient limits them), so one page contains all of them. */
const ROWS = 100;

export const listAgentClients: Handler<typeof contract.listAgentClients> = async (_, { caller }) => ({
  items: (await clientsOf(caller.organizationId, ROWS)).map(presentClient),
});
