import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { rotateWebhookSecret } from "#lib/webhooks/rotate-webhook-secret.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.rotateWebhookSecret, rotateWebhookSecret));
