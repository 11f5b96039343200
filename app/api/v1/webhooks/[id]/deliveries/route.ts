import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { listWebhookDeliveries } from "#lib/webhooks/list-webhook-deliveries.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listWebhookDeliveries, listWebhookDeliveries),
);
