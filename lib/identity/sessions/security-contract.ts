import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const Ended = z.object({ endedCount: z.int() }).meta({ id: "EndedSessions" });
const sessionId = "ses_01kaj4n7v8e2m0x3c9t5q6r7v0";

export const endSession = operation({
  id: "endSession",
  method: "POST",
  path: "/api/v1/auth/sessions/{sessionId}/end",
  tag: "Identity",
  summary: "End one of the person's sessions",
  description: "After this answer no process accepts the session. Sign out to end the session of this request.",
  access: "session",
  body: z.strictObject({}).meta({ id: "EndSession" }),
  response: Ended,
  problems: ["not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { sessionId }, body: {}, response: { endedCount: 1 } },
});

export const endOtherSessions = operation({
  id: "endOtherSessions",
  method: "POST",
  path: "/api/v1/auth/sessions/end-others",
  tag: "Identity",
  summary: "End every other session of the person",
  access: "session",
  body: z.strictObject({}).meta({ id: "EndOtherSessions" }),
  response: Ended,
  problems: ["idempotency_in_flight", "idempotency_key_reused"],
  example: { body: {}, response: { endedCount: 2 } },
});

export const changePassword = operation({
  id: "changePassword",
  method: "POST",
  path: "/api/v1/auth/password",
  tag: "Identity",
  summary: "Change the password",
  description: "Every other session of the person ends with it. Tries are limited.",
  access: "session",
  body: z
    .strictObject({ currentPassword: z.string().min(1).max(128), newPassword: z.string().min(12).max(128) })
    .meta({ id: "ChangePassword" }),
  response: Ended,
  problems: [],
  example: {
    body: { currentPassword: "correct horse battery staple", newPassword: "another long password" },
    response: { endedCount: 2 },
  },
});
