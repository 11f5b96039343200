import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const deviceId = "dev_01kaj4n7v8e2m0x3c9t5q6r7v2";
const CHARACTERS_MAX = 2_048;

export const Device = z
  .object({
    deviceId: z.string(),
    name: z.string().meta({ description: "Browser and system, as the browser names itself." }),
    details: z.boolean().meta({ description: "Whether messages to it name payee and amount." }),
    current: z.boolean().meta({ description: "Whether it was registered in the session of this request." }),
    createdAt: z.string(),
  })
  .meta({
    id: "Device",
    description: "A browser that gets messages about requests. It ends with the session that registered it.",
  });
export type Device = z.infer<typeof Device>;

const example: Device = {
  deviceId,
  name: "Chrome on Android",
  details: false,
  current: true,
  createdAt: "2026-11-21T12:00:00.000Z",
};

/** Text in base64url without padding, as browsers write it. */
const base64url = (characters: number, must: string) => z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${characters}}$`), must);

export const addDevice = operation({
  id: "addDevice",
  method: "POST",
  path: "/api/v1/auth/devices",
  tag: "Identity",
  summary: "Send messages about requests to this browser",
  description:
    "Takes what the browser's PushManager.subscribe() returns. A session has one device: registering again replaces it. A message contains the id of the request and of its organization. With `details` it also contains payee and amount, which the lock screen then shows. A message cannot approve anything. The device ends with its session.",
  access: "session",
  body: z
    .strictObject({
      endpoint: z
        .url({ protocol: /^https?$/ })
        .max(CHARACTERS_MAX)
        .meta({ description: "The address at the push service." }),
      keys: z.strictObject({
        p256dh: base64url(87, "Send the 65 bytes of the public key in base64url."),
        auth: base64url(22, "Send the 16 bytes of the secret in base64url."),
      }),
      details: z.boolean().optional().meta({ description: "Default: the value of the device that it replaces, or false." }),
    })
    .meta({ id: "AddDevice" }),
  response: Device,
  problems: ["conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: {
      endpoint: "https://push.example.com/send/abc",
      keys: {
        p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        auth: "BTBZMqHH6r4Tts7J_aSIgg",
      },
    },
    response: example,
  },
});

export const removeDevice = operation({
  id: "removeDevice",
  method: "POST",
  path: "/api/v1/auth/devices/{deviceId}/remove",
  tag: "Identity",
  summary: "Stop sending messages to a device",
  description: "After this answer no new message is sent to the device. A message that is being sent may still arrive.",
  access: "session",
  body: z.strictObject({}).meta({ id: "RemoveDevice" }),
  response: Device,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { deviceId }, body: {}, response: example },
});
