import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import {
  PasskeyAssertion,
  PasskeyCreationOptions,
  PasskeyCredential,
  PasskeyRequestOptions,
} from "#lib/identity/passkey-schema.ts";
import { Id } from "#lib/ids.ts";

const name = z.string().trim().min(1).max(60);
const passkeyId = "psk_01kaj4n7v8e2m0x3c9t5q6r7u1";
const soon = "2026-11-21T12:05:00.000Z";

export const Passkey = z
  .object({
    passkeyId: z.string(),
    name: z.string(),
    synced: z.boolean().meta({ description: "Whether the passkey is synced to other devices." }),
    createdAt: z.string(),
    lastUsedAt: z.string().optional(),
  })
  .meta({
    id: "Passkey",
    description: "A person's passkey. The person can sign in with it, and approve payments that need passkeyApproved.",
  });
export type Passkey = z.infer<typeof Passkey>;

const example: Passkey = { passkeyId, name: "Work laptop", synced: true, createdAt: "2026-11-21T12:00:00.000Z" };
const challenge = "u0H3xZC0hR7lW5u2m8yq3v0l1sT6n9bKcQ4dEjF2aGo";
const requestOptions = {
  challenge,
  rpId: "pay.example.com",
  allowCredentials: [{ id: "dGhlIGNyZWRlbnRpYWw", type: "public-key", transports: ["internal", "hybrid"] }],
  timeout: 300_000,
  userVerification: "required",
} as const;
export const exampleAssertion = {
  id: "dGhlIGNyZWRlbnRpYWw",
  rawId: "dGhlIGNyZWRlbnRpYWw",
  type: "public-key",
  response: { clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0", authenticatorData: "c2ln", signature: "c2ln" },
  clientExtensionResults: {},
} as const;

/** A person approves at most this many requests together, because they read each of them. */
export const TOGETHER_MAX = 10;

export const Together = z
  .strictObject({
    checkoutIntentIds: z.array(Id).min(2).max(TOGETHER_MAX),
    amount: z.string().meta({ description: "The sum of the requests' amounts, without fees, as the person was shown them." }),
  })
  .refine(({ checkoutIntentIds }) => new Set(checkoutIntentIds).size === checkoutIntentIds.length, {
    path: ["checkoutIntentIds"],
    message: "Name each request once.",
  })
  .meta({ id: "RequestsTogether", description: "Requests that are approved with one proof of identity." });

export const Act = z
  .strictObject({ subjectId: Id, terms: z.string().regex(/^[\w-]{43}$/) })
  .meta({ id: "ProvedAct", description: "What `step_up_required` names in `metadata.act`: send it back unchanged." });

export const challengePasskey = operation({
  id: "challengePasskey",
  method: "POST",
  path: "/api/v1/auth/passkey-challenges",
  tag: "Identity",
  summary: "Get a challenge that one of the person's passkeys signs",
  description:
    "With a checkoutIntentId the challenge is SHA-256 over checkoutIntentId, basketHash, amount in the smallest unit, payTo and a nonce, joined by line feeds: the signature is valid only for exactly what this session was shown. With together, it is SHA-256 over the word together, the number of requests, the same four values of each request in the order of the list, their sum in the smallest unit and a nonce; with act, over the word act, subjectId, terms and a nonce. Send the answer to stepUp. With none of these, send it to confirmIdentity. A challenge is valid once, in this session, for five minutes.",
  access: "session",
  body: z
    .strictObject({ checkoutIntentId: Id.optional(), together: Together.optional(), act: Act.optional() })
    .refine((body) => Object.keys(body).length <= 1, {
      path: ["checkoutIntentId"],
      message: "Send at most one of checkoutIntentId, together and act.",
    })
    .meta({ id: "ChallengePasskey" }),
  response: z
    .object({ options: PasskeyRequestOptions, expiresAt: z.string(), nonce: z.string().optional() })
    .meta({ id: "PasskeyChallenge" }),
  problems: [
    "not_found",
    "conflict",
    "approval_already_decided",
    "checkout_closed",
    "checkout_changed",
    "intent_expired",
    "review_required",
  ],
  example: {
    body: { checkoutIntentId: "cki_01kaj4n7v8e2m0x3c9t5q6r7t0" },
    response: { options: requestOptions, expiresAt: soon, nonce: "bm9uY2U" },
  },
});

export const confirmIdentity = operation({
  id: "confirmIdentity",
  method: "POST",
  path: "/api/v1/auth/confirm",
  tag: "Identity",
  summary: "Prove your identity again before you change sign-in methods or give rights",
  description:
    "By the password, or by a passkey that signed a challenge of challengePasskey. For the next five minutes this session may add and remove passkeys, and for fifteen it may give rights: keys, invitations and roles, and mandates below the amounts that ask for a step-up. A session that signed in less than that time ago may do the same without this proof. The number of attempts is limited.",
  access: "session",
  body: z
    .strictObject({ password: z.string().min(1).max(128).optional(), assertion: PasskeyAssertion.optional() })
    .refine(({ password, assertion }) => (password === undefined) !== (assertion === undefined), {
      path: ["password"],
      message: "Send either a password or an assertion.",
    })
    .meta({ id: "ConfirmIdentity" }),
  response: z.object({ expiresAt: z.string() }).meta({ id: "ConfirmedIdentity" }),
  problems: [],
  example: { body: { password: "correct horse battery staple" }, response: { expiresAt: soon } },
});

export const registerPasskey = operation({
  id: "registerPasskey",
  method: "POST",
  path: "/api/v1/auth/passkey-registrations",
  tag: "Identity",
  summary: "Get the options with which a browser makes a passkey",
  description: "The person must have signed in, or confirmed that it is them, within five minutes.",
  access: "session",
  body: z.strictObject({}).meta({ id: "RegisterPasskey" }),
  response: z.object({ options: PasskeyCreationOptions, expiresAt: z.string() }).meta({ id: "PasskeyRegistration" }),
  problems: ["conflict", "step_up_required"],
  example: {
    body: {},
    response: {
      options: {
        challenge,
        rp: { id: "pay.example.com", name: "Countersign" },
        user: { id: "dXNlcg", name: "ada@acme.example", displayName: "Ada" },
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        timeout: 300_000,
        excludeCredentials: [],
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        attestation: "none",
      },
      expiresAt: soon,
    },
  },
});

export const addPasskey = operation({
  id: "addPasskey",
  method: "POST",
  path: "/api/v1/auth/passkeys",
  tag: "Identity",
  summary: "Add a passkey",
  description:
    "Takes the passkey that the browser made with the options of this session. The authenticator must have verified the person.",
  access: "session",
  status: 201,
  body: z.strictObject({ name, credential: PasskeyCredential }).meta({ id: "AddPasskey" }),
  response: Passkey,
  problems: ["conflict", "step_up_required"],
  example: {
    body: {
      name: example.name,
      credential: {
        ...exampleAssertion,
        response: { clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0", attestationObject: "o2NmbXRkbm9uZQ" },
      },
    },
    response: example,
  },
});

export const renamePasskey = operation({
  id: "renamePasskey",
  method: "POST",
  path: "/api/v1/auth/passkeys/{passkeyId}/rename",
  tag: "Identity",
  summary: "Rename a passkey",
  access: "session",
  body: z.strictObject({ name }).meta({ id: "RenamePasskey" }),
  response: Passkey,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { passkeyId }, body: { name: "Old laptop" }, response: { ...example, name: "Old laptop" } },
});

export const removePasskey = operation({
  id: "removePasskey",
  method: "POST",
  path: "/api/v1/auth/passkeys/{passkeyId}/remove",
  tag: "Identity",
  summary: "Remove a passkey",
  description:
    "After this answer the passkey can no longer be used to sign in or to approve. The last way to sign in cannot be removed: add another one first. The person must have signed in, or confirmed that it is them, within five minutes.",
  access: "session",
  body: z.strictObject({}).meta({ id: "RemovePasskey" }),
  response: Passkey,
  problems: ["not_found", "conflict", "step_up_required", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { passkeyId }, body: {}, response: example },
});
