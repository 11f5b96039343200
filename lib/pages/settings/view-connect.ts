import type { MemberCaller } from "#lib/http/operation.ts";
import { clientsOf } from "#lib/identity/oauth/client-store.ts";
import { connectionsOf } from "#lib/identity/oauth/connection-store.ts";
import type { AgentClient, Connection } from "#lib/identity/oauth/contract.ts";
import { presentClient } from "#lib/identity/oauth/present-client.ts";
import { presentConnection } from "#lib/identity/oauth/present-connection.ts";
import { mcpResource } from "#lib/identity/oauth-terms.ts";
import { keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import { listLiveServiceAccounts } from "#lib/identity/keys/service-account-store.ts";
import { answerTo, readSealed, type Registration } from "#lib/identity/oauth/connect-request.ts";
import { redirectPlace } from "#lib/identity/oauth/redirect-uri.ts";
import { openMandates } from "#lib/mandates/agent-store.ts";
import type { Capability } from "#lib/vocabulary.ts";

const ROWS = 100;

export type ConnectView = {
  readonly organizationId: string;
  readonly clientName: string;
  readonly registration: Registration;
  /** The address of the client's metadata document, which is the id of the client. */
  readonly document: string | null;
  readonly place: ReturnType<typeof redirectPlace>;
  readonly refuseAt: string;
  /** What the client asks for and the person may give; all that the person may give if the client names nothing. */
  readonly grantable: readonly Capability[];
  readonly accounts: readonly { readonly serviceAccountId: string; readonly name: string }[];
  readonly mandates: readonly { readonly mandateId: string; readonly name: string }[];
};

export type ConnectAnswer =
  | { readonly kind: "ask"; readonly view: ConnectView }
  | { readonly kind: "otherOrganization" }
  | { readonly kind: "mayNot"; readonly refuseAt: string; readonly place: ConnectView["place"] }
  | { readonly kind: "unusable"; readonly error: string };

export async function viewConnect(caller: MemberCaller, query: string): Promise<ConnectAnswer> {
  const request = await readSealed(query);
  if (request === null) return { kind: "unusable", error: "invalid_request" };
  if (request.organizationId !== null && request.organizationId !== caller.organizationId) return { kind: "otherOrganization" };
  const refuseAt = answerTo(request, { error: "access_denied" });
  const place = redirectPlace(request.redirectUri);
  if (!caller.capabilities.has("serviceAccounts:manage")) return { kind: "mayNot", refuseAt, place };
  const [accounts, mandates] = await Promise.all([
    listLiveServiceAccounts({ ...caller, place: null, rows: ROWS }),
    openMandates(caller, ROWS),
  ]);
  const may = [...keyCapabilitiesOf([...caller.capabilities])];
  const grantable = may.filter((capability) => request.asked === null || request.asked.includes(capability));
  return {
    kind: "ask",
    view: {
      organizationId: caller.organizationId,
      clientName: request.clientName,
      registration: request.registration,
      document: request.registration === "site" ? request.clientId : null,
      place,
      refuseAt,
      grantable,
      accounts: accounts.map(({ serviceAccountId, name }) => ({ serviceAccountId, name })),
      mandates,
    },
  };
}

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
