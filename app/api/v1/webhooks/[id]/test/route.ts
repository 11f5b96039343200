import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { testWebhookEndpoint } from "#lib/webhooks/test-webhook-endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.testWebhookEndpoint, testWebhookEndpoint));
