import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";
import { Act, Together } from "#lib/identity/passkeys/contract.ts";
import { Id } from "#lib/ids.ts";

export const stepUp = operation({
  id: "stepUp",
  method: "POST",
  path: "/api/v1/auth/step-up",
  tag: "Identity",
  summary: "Prove your identity again for an approval or another act",
  description:
    "Some approvals need a new proof of identity by the password or a passkey, and some need a passkey. The passkey signs a challenge of challengePasskey, and the approval then has the level passkeyApproved. The proof is valid once, for this session and this checkout, for five minutes; a proof by passkey is valid only for the signed terms. With together, one proof is for exactly these requests, their terms as this session was shown them and their sum; each is then approved by its own call, and the proof of one cannot be used for another. With act, the proof is for the one act that a step_up_required answer named. The number of attempts is limited.",
  access: "session",
  body: z
    .strictObject({
      checkoutIntentId: Id.optional(),
      together: Together.optional(),
      act: Act.optional(),
      password: z.string().min(1).max(128).optional(),
      assertion: PasskeyAssertion.optional(),
    })
    .refine(({ password, assertion }) => (password === undefined) !== (assertion === undefined), {
      path: ["password"],
      message: "Send either a password or an assertion.",
    })
    .refine(({ checkoutIntentId, together, act }) => [checkoutIntentId, together, act].filter(Boolean).length === 1, {
      path: ["checkoutIntentId"],
      message: "Send one of checkoutIntentId, together and act.",
    })
    .meta({ id: "StepUpRequest" }),
  response: z.object({ stepUpId: z.string(), expiresAt: z.string() }).meta({ id: "StepUp" }),
  problems: ["not_found", "approval_already_decided", "checkout_closed", "checkout_changed", "intent_expired", "review_required"],
  example: {
    body: { checkoutIntentId: "cki_01kaj4n7v8e2m0x3c9t5q6r7t0", password: "correct horse battery staple" },
    response: { stepUpId: "stu_01kaj4n7v8e2m0x3c9t5q6r7t3", expiresAt: "2026-11-21T12:05:00.000Z" },
  },
});
