import { z } from "zod";
import { Event, exampleThinEvent } from "#lib/audit/thin-event.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";
import { Timestamp } from "#lib/time.ts";

const access = { sessionCapability: "webhooks:manage" } as const;
const TYPE = /^[a-z][A-Za-z]{0,40}\.(?:\*|[a-z][A-Za-z]{0,60})$/;

/** Only the service sets `disabled`; disabledBy says when. */
const WebhookEndpointStatus = z.enum(["enabled", "paused", "disabled"]).meta({ id: "WebhookEndpointStatus" });
/** `failed` means that the last attempt failed and no further attempt is planned. */
const WebhookDeliveryStatus = z.enum(["pending", "delivered", "failed"]).meta({ id: "WebhookDeliveryStatus" });

const fields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .meta({ description: "Where events are sent: an https address." }),
  description: z.string().trim().max(200),
  eventTypes: z
    .array(z.string().regex(TYPE, "Write a type such as payment.settled, or payment.* for all of an entity."))
    .max(50)
    .meta({ description: "The events to send. Empty: all." }),
  full: z.boolean().meta({
    description:
      "Whether messages contain the whole event: its actor and all metadata, which can contain names of people and reasons that they wrote. Otherwise they contain ids, status and amount.",
  }),
};

export const WebhookEndpoint = z
  .object({
    webhookEndpointId: z.string(),
    url: z.string(),
    description: z.string().optional(),
    eventTypes: z.array(z.string()),
    full: fields.full,
    status: WebhookEndpointStatus,
    disabledReason: z.string().optional().meta({ description: "Why the service disabled it." }),
    publicKey: z.string().meta({ description: "The Ed25519 key that verifies v1a signatures: whpk_ and base64." }),
    secret: z.string().optional().meta({ description: "The secret that verifies v1 signatures. Shown once, when it is made." }),
    previousSecretUntil: z
      .string()
      .optional()
      .meta({ description: "Until when messages are signed with the previous secret too." }),
    sequence: z.int().meta({ description: "The last event that was read for it." }),
    failingSince: z.string().optional().meta({ description: "The first failure after the last success." }),
    lastSuccessAt: z.string().optional(),
    createdAt: z.string(),
  })
  .meta({ id: "WebhookEndpoint" });
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

export const WebhookDelivery = z
  .object({
    webhookDeliveryId: z.string(),
    webhookEndpointId: z.string(),
    eventId: z.string().meta({ description: "The header webhook-id, the same in every attempt." }),
    type: z.string(),
    status: WebhookDeliveryStatus,
    attempts: z.int(),
    event: Event.optional().meta({ description: "The body of the request." }),
    responseStatus: z.int().optional(),
    responseBody: z.string().optional().meta({ description: "The first 512 bytes of the last answer." }),
    error: z.string().optional().meta({ description: "Why the last attempt failed." }),
    durationMs: z.int().optional(),
    lastAttemptAt: z.string().optional(),
    nextAttemptAt: z.string().optional(),
    createdAt: z.string(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const endpointId = "whe_01kaj4n7v8e2m0x3c9t5q6r7w0";
const example: WebhookEndpoint = {
  webhookEndpointId: endpointId,
  url: "https://example.com/hooks/countersign",
  eventTypes: ["payment.*"],
  full: false,
  status: "enabled",
  publicKey: "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  sequence: 41,
  createdAt: "2026-11-21T12:00:00.000Z",
};
const withSecret = { ...example, secret: "whsec_<44 characters>" };
const delivery: WebhookDelivery = {
  webhookDeliveryId: "whd_01kaj4n7v8e2m0x3c9t5q6r7w1",
  webhookEndpointId: endpointId,
  eventId: exampleThinEvent.id,
  type: exampleThinEvent.type,
  status: "delivered",
  attempts: 1,
  event: exampleThinEvent,
  responseStatus: 200,
  durationMs: 84,
  lastAttemptAt: "2026-11-21T12:00:01.000Z",
  createdAt: "2026-11-21T12:00:01.000Z",
};

export const createWebhookEndpoint = operation({
  id: "createWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhooks",
  tag: "Webhooks",
  summary: "Send events to an address",
  description:
    "Events from now on are sent as listEvents shows them, signed as Standard Webhooks defines: with v1 (HMAC-SHA256) and v1a (Ed25519). An answer of 2xx within 15 seconds is a success; redirects are not followed. Events can arrive twice and in any order: webhook-id identifies the event, and sequence gives its place in the order. The secret is shown in this reply and never again; a repeat with the same idempotency key is answered with a 409 that names the endpoint.",
  access,
  status: 201,
  body: z
    .strictObject({
      url: fields.url,
      description: fields.description.optional(),
      eventTypes: fields.eventTypes.default([]),
      full: fields.full.default(false),
    })
    .meta({ id: "CreateWebhookEndpoint" }),
  response: WebhookEndpoint,
  problems: ["step_up_required", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { body: { url: example.url, eventTypes: example.eventTypes }, response: withSecret },
});

export const listWebhookEndpoints = operation({
  id: "listWebhookEndpoints",
  method: "GET",
  path: "/api/v1/webhooks",
  tag: "Webhooks",
  summary: "List the organization's webhook endpoints",
  access,
  response: z.object({ items: z.array(WebhookEndpoint) }).meta({ id: "WebhookEndpointList" }),
  problems: [],
  example: { response: { items: [example] } },
});

export const updateWebhookEndpoint = operation({
  id: "updateWebhookEndpoint",
  method: "PATCH",
  path: "/api/v1/webhooks/{id}",
  tag: "Webhooks",
  summary: "Change, pause or enable a webhook endpoint",
  description:
    "Fields that are left out do not change. An endpoint that was paused or disabled continues after the last event that was read for it, so no event is lost. Pausing needs no fresh proof of identity.",
  access,
  body: z
    .strictObject({
      url: fields.url.optional(),
      description: fields.description.nullable().optional(),
      eventTypes: fields.eventTypes.optional(),
      full: fields.full.optional(),
      status: z.enum(["enabled", "paused"]).optional(),
    })
    .meta({ id: "UpdateWebhookEndpoint" }),
  response: WebhookEndpoint,
  problems: ["step_up_required", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: endpointId }, body: { status: "paused" }, response: { ...example, status: "paused" } },
});

export const deleteWebhookEndpoint = operation({
  id: "deleteWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhooks/{id}/delete",
  tag: "Webhooks",
  summary: "Delete a webhook endpoint",
  description: "Its deliveries are deleted too. After this answer no new message is sent to it.",
  access,
  body: z.strictObject({}).meta({ id: "DeleteWebhookEndpoint" }),
  response: WebhookEndpoint,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: endpointId }, body: {}, response: example },
});

export const rotateWebhookSecret = operation({
  id: "rotateWebhookSecret",
  method: "POST",
  path: "/api/v1/webhooks/{id}/rotate",
  tag: "Webhooks",
  summary: "Give a webhook endpoint new secrets",
  description:
    "Messages carry the signatures of both secrets during the grace period, by default a day. With 0, no message is signed with the previous secret after this answer.",
  access,
  body: z.strictObject({ gracePeriodSeconds: z.int().min(0).max(604_800).default(86_400) }).meta({ id: "RotateWebhookSecret" }),
  response: WebhookEndpoint,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: endpointId }, body: { gracePeriodSeconds: 3600 }, response: withSecret },
});

export const testWebhookEndpoint = operation({
  id: "testWebhookEndpoint",
  method: "POST",
  path: "/api/v1/webhooks/{id}/test",
  tag: "Webhooks",
  summary: "Send a test message to a webhook endpoint",
  description: "The message has the type webhookEndpoint.tested. listWebhookDeliveries shows its outcome.",
  access,
  body: z.strictObject({}).meta({ id: "TestWebhookEndpoint" }),
  response: WebhookDelivery,
  problems: ["not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { id: endpointId },
    body: {},
    response: {
      webhookDeliveryId: delivery.webhookDeliveryId,
      webhookEndpointId: endpointId,
      eventId: delivery.webhookDeliveryId,
      type: "webhookEndpoint.tested",
      status: "pending",
      attempts: 0,
      event: {
        id: delivery.webhookDeliveryId,
        type: "webhookEndpoint.tested",
        timestamp: delivery.createdAt,
        sequence: 0,
        data: { entityType: "webhookEndpoint", entityId: endpointId, status: "tested" },
      },
      createdAt: delivery.createdAt,
    },
  },
});

export const listWebhookDeliveries = operation({
  id: "listWebhookDeliveries",
  method: "GET",
  path: "/api/v1/webhooks/{id}/deliveries",
  tag: "Webhooks",
  summary: "List the deliveries of a webhook endpoint",
  description: "Newest first, with request, status and answer. Deliveries are deleted after 30 days.",
  access,
  query: z.strictObject({ ...PageQuery.shape, status: WebhookDeliveryStatus.optional() }),
  response: pageOf(WebhookDelivery).meta({ id: "WebhookDeliveryList" }),
  problems: ["not_found"],
  example: { params: { id: endpointId }, query: { status: "delivered" }, response: { items: [delivery], hasMore: false } },
});

export const resendWebhookDeliveries = operation({
  id: "resendWebhookDeliveries",
  method: "POST",
  path: "/api/v1/webhooks/{id}/resend",
  tag: "Webhooks",
  summary: "Send one delivery again, or all failed ones since a time",
  description:
    "Send either webhookDeliveryId or failedSince. A resent message has the same webhook-id and a new timestamp. Deliveries whose next attempt is due within about two minutes are not resent. At most 10,000 are resent by one call.",
  access,
  body: z
    .strictObject({ webhookDeliveryId: Id.optional(), failedSince: Timestamp.optional() })
    .refine(({ webhookDeliveryId, failedSince }) => (webhookDeliveryId === undefined) !== (failedSince === undefined), {
      error: "Send either webhookDeliveryId or failedSince.",
    })
    .meta({ id: "ResendWebhookDeliveries" }),
  response: z.object({ resent: z.int().meta({ description: "How many will be sent again." }) }).meta({ id: "ResentWebhooks" }),
  problems: ["not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: endpointId }, body: { failedSince: "2026-11-21T00:00:00.000Z" }, response: { resent: 12 } },
});
