import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { resendWebhookDeliveries } from "#lib/webhooks/resend-webhook-deliveries.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.resendWebhookDeliveries, resendWebhookDeliveries),
);
