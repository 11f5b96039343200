import type { Access, Operation } from "#lib/http/operation.ts";
import { keyReusedDetail, type ProblemCode } from "#lib/problem.ts";

export const about = `Countersign answers one question: may this agent make this payment under this mandate?

**Requests.** A body is JSON of at most 64 KiB, at most 16 levels deep, without a field that occurs twice. An unknown field is refused
with a pointer to it. Amounts are decimal strings, times are RFC 3339 in UTC. Clients must tolerate new fields and new values of
enumerations in replies.

**Credentials.** A service account sends its API key as a bearer token. A person has a session cookie, and a request that changes
something must come from this service's own origin. A request with both is refused with 400 \`ambiguous_credentials\`.

**Repeating.** A POST, PUT or PATCH with an idempotency key may be repeated: a request with the same key and body gets the stored reply,
byte for byte, with \`Idempotent-Replayed: true\`. Only a new API key is not shown again. Bodies are compared as RFC 8785 text. Fields that an operation lets a repeat change are
not compared, and the values of the first request stay. Keys are kept for 30 days and belong to the organization. If a reply was lost,
repeat the request with the same key. A new key would make a second payment.

**Lists.** Lists are sorted newest first, and \`limit\` is 1 to 100. If a reply has \`nextCursor\`, pass it as \`cursor\` to get the next
page. Lists whose reply contains only \`items\` name the next page in the \`Link\` header.

**Refusals** are RFC 9457 problems: \`code\` says what is wrong, \`actor\` who can act, and \`nextActions\` what to do. Each operation
documents its own statuses. In addition, any operation may answer 405 (another method; see \`Allow\`), 406 (\`Accept\` rules out JSON),
409 \`idempotency_in_flight\` (the same key is still running; retry), 409 \`conflict\`, 410 (something expired), 413 (body too large), 415
(not JSON), 422 \`idempotency_key_reused\` (the same key with another body) and other 422 for values that are well formed but not
supported, 424 (a storefront failed), 428 \`step_up_required\`, and 503 \`overloaded\` or \`service_unavailable\` with \`Retry-After\`. A
denial by a policy is not a refusal but a decision, and its status is 200.

**Approvals.** If a decision is \`requireApproval\`, a person gets a mail that asks them. 403 \`approval_rejected\` means that a person
declined: do not ask again, because the same basket is denied for an hour. 403 \`approval_revoked\` means that a person took an approval
back before it was used. 410 \`approval_expired\` means that nobody answered in time, which is not a refusal: ask again with a new
idempotency key.`;

type Tag = { readonly name: Operation["tag"]; readonly description: string };

export const tags: readonly Tag[] = [
  { name: "Payments", description: "Ask whether a payment may be made, then make it." },
  { name: "Commerce", description: "Purchases of agents that people confirm: readiness, checkouts, approvals, orders." },
  { name: "Mandates", description: "The spending policies that people write for agents." },
  { name: "Onchain", description: "The contracts that hold the hard limits of mandates." },
  { name: "Sellers", description: "Sellers and the resources that they sell." },
  { name: "Billing", description: "What the service charges." },
  { name: "Identity", description: "Sessions, organizations and service accounts." },
  { name: "Platform", description: "Administration of the installation." },
  { name: "Audit", description: "The append-only record of what happened, with a Merkle tree per organization." },
  {
    name: "Webhooks",
    description:
      "Signed messages about events, to addresses of the organization. Verify each with the endpoint's secret and a library for Standard Webhooks, ignore a webhook-id that you have seen, and answer 2xx within 15 seconds.",
  },
  { name: "Cards", description: "Cards of Stripe Issuing that pay under a mandate." },
  { name: "Health", description: "Whether the service is alive and ready." },
];

export function accessText(access: Access): string {
  if (access === "anyone") return "Access: anyone.";
  if (access === "authenticated") return "Access: any API key or session.";
  if (access === "session") return "Access: a person's session.";
  if (access === "signature") return "Access: by a signature over the body.";
  if ("capability" in access) {
    const names = [access.capability, access.orCapability].flatMap((one) => one ?? []).map((one) => `\`${one}\``);
    return `Access: the capability ${names.join(" or ")}, by API key or session.`;
  }
  if ("sessionCapability" in access) return `Access: a person's session with the capability \`${access.sessionCapability}\`.`;
  return `Access: a person's session with the platform capability \`${access.platformCapability}\`.`;
}

export function repeatText({ madeAnew }: Operation): string | undefined {
  if (!madeAnew) return undefined;
  const fields = madeAnew.map((path) => `\`${path.join(".")}\``).join(" and ");
  return `A repeat with the same idempotency key may change ${fields}: it gets the answer of the first request, whose values stay.`;
}

type VariantText = { readonly name: string; readonly description: string; readonly code?: ProblemCode; readonly detail: string };

export const variantText: Readonly<Record<400 | 401 | 402 | 403 | 404 | 409 | 422 | 429 | 500 | 502, VariantText>> = {
  400: {
    name: "InvalidRequest",
    description: "The request is malformed; errors point at its fields.",
    code: "invalid_request",
    detail: "The request has an invalid field.",
  },
  401: {
    name: "Unauthenticated",
    description: "The credential is missing, wrong or expired.",
    code: "unauthenticated",
    detail: "Send an API key as a bearer token, or sign in.",
  },
  402: {
    name: "PaymentFailed",
    description: "The payment did not happen. payment and nextActions say what is missing.",
    detail: "",
  },
  403: {
    name: "Forbidden",
    description: "The caller may not do this, or a policy forbids it.",
    code: "capability_required",
    detail: "This needs the capability payments:authorize, which the caller does not have in this organization.",
  },
  404: {
    name: "NotFound",
    description: "It does not exist, or belongs to another organization.",
    code: "not_found",
    detail: "There is no such mandate.",
  },
  409: {
    name: "Conflict",
    description: "It conflicts with the current state.",
    code: "conflict",
    detail: "This was done before with the same key.",
  },
  422: {
    name: "Unprocessable",
    description: "The request is well formed, but cannot be carried out with these values.",
    code: "idempotency_key_reused",
    detail: keyReusedDetail,
  },
  429: {
    name: "RateLimited",
    description: "Too many requests.",
    code: "rate_limited",
    detail: "Too many requests from this credential. Wait a second and send fewer requests.",
  },
  500: {
    name: "InternalError",
    description: "The service failed. Quote the request id to support.",
    code: "internal_error",
    detail: "The service failed. Quote the request id to support.",
  },
  502: { name: "ProviderUnavailable", description: "Another service that this one needs does not answer.", detail: "" },
};
