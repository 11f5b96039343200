import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/webhooks/contract.ts";

export const deleteWebhookEndpoint = atAddress<typeof contract.deleteWebhookEndpoint>({
  id: "deleteWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhooks/{id}/delete",
});

export const listWebhookDeliveries = atAddress<typeof contract.listWebhookDeliveries>({
  id: "listWebhookDeliveries",
  method: "GET",
  path: "/api/v1/webhooks/{id}/deliveries",
});

export const resendWebhookDeliveries = atAddress<typeof contract.resendWebhookDeliveries>({
  id: "resendWebhookDeliveries",
  method: "POST",
  path: "/api/v1/webhooks/{id}/resend",
});

export const updateWebhookEndpoint = atAddress<typeof contract.updateWebhookEndpoint>({
  id: "updateWebhookEndpoint",
  method: "PATCH",
  path: "/api/v1/webhooks/{id}",
});

export const testWebhookEndpoint = atAddress<typeof contract.testWebhookEndpoint>({
  id: "testWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhooks/{id}/test",
});
