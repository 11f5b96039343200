import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { updateWebhookEndpoint } from "#lib/webhooks/update-webhook-endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.updateWebhookEndpoint, updateWebhookEndpoint),
);
