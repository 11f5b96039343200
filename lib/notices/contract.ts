import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { TimeOfDay, TimeZone } from "#lib/mandates/policy/policy-schema.ts";
import { Device } from "#lib/push/contract.ts";

const QuietHours = z
  .strictObject({ from: TimeOfDay, to: TimeOfDay, timezone: TimeZone })
  .refine(({ from, to }) => from !== to, { path: ["to"], message: "Choose two different times." })
  .meta({
    id: "QuietHours",
    description:
      "No message is sent to your devices between these two times, which may include midnight. Mail is sent at any hour.",
  });

const Settings = z
  .object({
    mail: z.boolean().meta({ description: "Whether you get a mail about requests that wait for your approval." }),
    quietHours: QuietHours.nullable(),
  })
  .meta({ id: "NoticeSettings", description: "How you are told about requests, in all your organizations." });
export type NoticeSettings = z.infer<typeof Settings>;

const quietHours = { from: "22:00", to: "07:00", timezone: "Europe/Berlin" };

export const getNotices = operation({
  id: "getNotices",
  method: "GET",
  path: "/api/v1/auth/notices",
  tag: "Identity",
  summary: "Read how you are told about requests",
  description:
    "applicationServerKey is what the browser's PushManager.subscribe() needs; null if this service sends no messages to devices. devices are the browsers that get them, the newest first.",
  access: "session",
  response: Settings.extend({
    applicationServerKey: z.string().nullable(),
    devices: z.array(Device),
  }).meta({ id: "Notices" }),
  problems: [],
  example: {
    response: {
      mail: true,
      quietHours,
      applicationServerKey: "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
      devices: [],
    },
  },
});

export const setNotices = operation({
  id: "setNotices",
  method: "POST",
  path: "/api/v1/auth/notices",
  tag: "Identity",
  summary: "Choose how you are told about requests",
  description:
    "Applies to you in all your organizations, also to mail that waits to be sent. Without mail and devices you find requests only in the list of approvals. Mail about your account and your own decisions is always sent. If quietHours is left out, it does not change; null removes it.",
  access: "session",
  body: z.strictObject({ mail: z.boolean(), quietHours: QuietHours.nullable().optional() }).meta({ id: "SetNotices" }),
  response: Settings,
  problems: ["idempotency_in_flight", "idempotency_key_reused"],
  example: { body: { mail: false, quietHours }, response: { mail: false, quietHours } },
});
