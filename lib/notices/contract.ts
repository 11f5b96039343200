import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const Settings = z
  .object({ mail: z.boolean().meta({ description: "Whether you get a mail about requests that wait for your approval." }) })
  .meta({ id: "NoticeSettings", description: "How you are told about requests, in all your organizations." });

export const setNotices = operation({
  id: "setNotices",
  method: "POST",
  path: "/api/v1/auth/notices",
  tag: "Identity",
  summary: "Choose how you are told about requests",
  description:
    "Applies to you in all your organizations, also to mail that waits to be sent. Without mail you find requests only in the list of approvals. Mail about your account and your own decisions is always sent.",
  access: "session",
  body: z.strictObject({ mail: z.boolean() }).meta({ id: "SetNotices" }),
  response: Settings,
  problems: ["idempotency_in_flight", "idempotency_key_reused"],
  example: { body: { mail: false }, response: { mail: false } },
});
