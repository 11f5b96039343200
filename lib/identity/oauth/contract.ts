import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { Id } from "#lib/ids.ts";
import { redirectRefusal } from "#lib/identity/oauth/redirect-uri.ts";
import { Capability } from "#lib/vocabulary.ts";

const access = { sessionCapability: "serviceAccounts:manage" } as const;

const RedirectUri = z
  .string()
  .min(1)
  .max(1_024)
  .superRefine((text, context) => {
    const refusal = redirectRefusal(text);
    if (refusal !== null) context.addIssue({ code: "custom", message: refusal });
  });

export const AgentClient = z
  .object({
    clientId: z.string(),
    name: z.string(),
    redirectUris: z.array(z.string()),
    createdAt: z.string(),
  })
  .meta({ id: "AgentClient", description: "A program that may ask people to connect it. It has no secret and must use PKCE." });
export type AgentClient = z.infer<typeof AgentClient>;

export const Connection = z
  .object({
    connectionId: z.string(),
    clientId: z.string(),
    clientName: z.string().meta({ description: "The name with which the client was registered." }),
    serviceAccountId: z.string(),
    serviceAccountName: z.string(),
    capabilities: z.array(Capability),
    connectedBy: z.string().meta({ description: "The userId of the person who allowed it." }),
    connectedByName: z.string(),
    connectedAt: z.string(),
    lastUsedAt: z.string().optional().meta({ description: "Written once a minute. Absent if it was not used yet." }),
  })
  .meta({ id: "Connection", description: "An OAuth client that acts as a service account." });
export type Connection = z.infer<typeof Connection>;

const exampleClient: AgentClient = {
  clientId: "cli_01kaj4n7v8e2m0x3c9t5q6r7x1",
  name: "Claude Code",
  redirectUris: ["http://localhost:8080/callback"],
  createdAt: "2026-11-25T12:00:00.000Z",
};
const example: Connection = {
  connectionId: "2w7k9m4r5t6v8x0y",
  clientId: exampleClient.clientId,
  clientName: exampleClient.name,
  serviceAccountId: "sa_01kaj4n7v8e2m0x3c9t5q6r7s2",
  serviceAccountName: "Research agent",
  capabilities: ["payments:authorize", "payments:execute", "payments:read"],
  connectedBy: "usr_01kaj4n7v8e2m0x3c9t5q6r7t0",
  connectedByName: "Ada",
  connectedAt: "2026-11-25T12:01:00.000Z",
  lastUsedAt: "2026-11-25T12:30:00.000Z",
};

export const createAgentClient = operation({
  id: "createAgentClient",
  method: "POST",
  path: "/api/v1/auth/clients",
  tag: "Identity",
  summary: "Register an OAuth client",
  description:
    "An MCP client uses the clientId to ask people of the organization to connect it. Codes are sent only to the registered addresses; for a loopback address, any port is accepted. At most 50 clients.",
  access,
  status: 201,
  body: z
    .strictObject({ name: z.string().trim().min(1).max(100), redirectUris: z.array(RedirectUri).min(1).max(10) })
    .meta({ id: "CreateAgentClient" }),
  response: AgentClient,
  problems: ["step_up_required", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { body: { name: exampleClient.name, redirectUris: exampleClient.redirectUris }, response: exampleClient },
});

export const listAgentClients = operation({
  id: "listAgentClients",
  method: "GET",
  path: "/api/v1/auth/clients",
  tag: "Identity",
  summary: "List the OAuth clients of the active organization",
  access: { sessionCapability: "serviceAccounts:read" },
  response: z.object({ items: z.array(AgentClient) }).meta({ id: "AgentClientList" }),
  problems: [],
  example: { response: { items: [exampleClient] } },
});

export const removeAgentClient = operation({
  id: "removeAgentClient",
  method: "POST",
  path: "/api/v1/auth/clients/{clientId}/remove",
  tag: "Identity",
  summary: "Remove an OAuth client and end its connections",
  description: "After this answer no token of the client is accepted.",
  access,
  body: z.strictObject({}).meta({ id: "RemoveAgentClient" }),
  response: AgentClient,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { clientId: exampleClient.clientId }, body: {}, response: exampleClient },
});

export const connectAgent = operation({
  id: "connectAgent",
  method: "POST",
  path: "/api/v1/auth/connections",
  tag: "Identity",
  summary: "Allow an OAuth client to act as a service account",
  description:
    "The page that an OAuth client opens sends the person's decision with this operation. `request` is the query of the authorization request. Send serviceAccountId for an account that exists, or name for a new one, which may use the mandates in mandateIds or, without mandateIds, all that admit it. The client gets the capabilities that it asked for, that the account has and that are listed here. The answer has the address that gives the client its code. A repeat with the same idempotency key is a 409.",
  access,
  status: 201,
  body: z
    .strictObject({
      request: z.string().min(1).max(4_096),
      organizationId: Id.optional().meta({
        description: "The organization that the person saw. If another one is active now, nothing is connected.",
      }),
      serviceAccountId: Id.optional(),
      name: z.string().trim().min(1).max(200).optional(),
      mandateIds: z.array(Id).max(100).optional(),
      capabilities: z.array(Capability).min(1).max(32),
    })
    .meta({ id: "ConnectAgent" }),
  response: z
    .object({
      serviceAccountId: z.string(),
      connectionId: z.string(),
      redirectTo: z.string().meta({ description: "The client's address, with the code. Send the person there." }),
    })
    .meta({ id: "AgentConnected" }),
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: {
      request:
        "response_type=code&client_id=cli_01kaj4n7v8e2m0x3c9t5q6r7x1&redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&state=xyz",
      name: "Research agent",
      capabilities: example.capabilities,
    },
    response: {
      serviceAccountId: example.serviceAccountId,
      connectionId: example.connectionId,
      redirectTo: "http://localhost:8080/callback?code=<43 characters>&state=xyz&iss=https%3A%2F%2Fpay.example%2Fapi%2Fauth",
    },
  },
});

export const listConnections = operation({
  id: "listConnections",
  method: "GET",
  path: "/api/v1/auth/connections",
  tag: "Identity",
  summary: "List the valid connections of OAuth clients",
  description: "The newest 100.",
  access: { sessionCapability: "serviceAccounts:read" },
  response: z.object({ items: z.array(Connection) }).meta({ id: "ConnectionList" }),
  problems: [],
  example: { response: { items: [example] } },
});

export const endConnection = operation({
  id: "endConnection",
  method: "POST",
  path: "/api/v1/auth/connections/{connectionId}/end",
  tag: "Identity",
  summary: "End a connection of an OAuth client",
  description: "After this answer none of its tokens is accepted. The service account stays. Ending it again answers 404.",
  access,
  body: z.strictObject({}).meta({ id: "EndConnection" }),
  response: Connection,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { connectionId: example.connectionId }, body: {}, response: example },
});
