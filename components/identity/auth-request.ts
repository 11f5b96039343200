type Refusal = { readonly detail?: unknown; readonly message?: unknown; readonly code?: unknown; readonly errors?: unknown };

/** A refusal by an endpoint under /api/auth; `fields` has its messages by the field of the body. */
export class AuthRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, string>>;

  constructor(status: number, body: Refusal) {
    super(text(body.detail) ?? text(body.message) ?? "The service did not answer as expected.");
    this.status = status;
    this.code = text(body.code) ?? "";
    this.fields = fieldErrors(body.errors);
  }
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function fieldErrors(errors: unknown): Record<string, string> {
  if (!Array.isArray(errors)) return {};
  return Object.fromEntries(
    (errors as { pointer?: string; detail: string }[]).map(({ pointer = "", detail }) => [pointer.slice(1), detail]),
  );
}

export type AuthPath =
  | "sign-in/email"
  | "sign-up/email"
  | "sign-in/magic-link"
  | "magic-link/verify"
  | "sign-in/social"
  | "siwe/nonce"
  | "siwe/verify"
  | "send-verification-email"
  | "verify-email"
  | "request-password-reset"
  | "reset-password"
  | "sign-out";

/** Better-auth's endpoints are not operations of the API. @throws AuthRefusal, TypeError if the service cannot be reached */
export async function requestAuth(path: AuthPath, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`/api/auth/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const reply = ((await response.json().catch(() => null)) ?? {}) as Record<string, unknown>;
  if (!response.ok) throw new AuthRefusal(response.status, reply);
  return reply;
}

export function refusalText(error: Error): string {
  if (!(error instanceof AuthRefusal)) return "We could not reach the service. Try again.";
  return error.status === 429 && error.code !== "rate_limited" ? "Too many tries. Wait a minute, then try again." : error.message;
}
