type Refusal = { readonly detail?: unknown; readonly message?: unknown; readonly code?: unknown; readonly errors?: unknown };

/** What signing in, up or out answered when it refused. */
export class AuthRefusal extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;

  constructor(status: number, body: Refusal) {
    super(text(body.detail) ?? text(body.message) ?? "The service did not answer as expected.");
    this.status = status;
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

/** Signing in, up and out are better-auth's endpoints, not operations. @throws AuthRefusal */
export async function requestAuth(path: "sign-in/email" | "sign-up/email" | "sign-out", body: object): Promise<void> {
  const response = await fetch(`/api/auth/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new AuthRefusal(response.status, ((await response.json().catch(() => null)) ?? {}) as Refusal);
}
