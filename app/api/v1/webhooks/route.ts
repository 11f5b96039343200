import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { createWebhookEndpoint } from "#lib/webhooks/create-webhook-endpoint.ts";
import { listWebhookEndpoints } from "#lib/webhooks/list-webhook-endpoints.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listWebhookEndpoints, listWebhookEndpoints),
  route(contract.createWebhookEndpoint, createWebhookEndpoint),
);
