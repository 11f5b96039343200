import { randomBytes } from "node:crypto";
import { call, type CallOptions, type ReplyOf } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";
import { completeOnboarding } from "#lib/identity/sessions/contract.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import type { ErrorBody } from "#lib/problem.ts";
import type { ProductRole } from "#lib/vocabulary.ts";
import { note } from "./timeline.ts";

/** A person who is signed in. `ask` sends their session cookie and the service's origin, as a browser does. */
export type Person = {
  readonly email: string;
  readonly password: string;
  readonly organizationId: string;
  readonly session: Session;
  /** Names the service and the person's session in a call. */
  readonly options: CallOptions;
  /** Opens a page as a browser would, without running its scripts. */
  open(url: string): Promise<Response>;
  ask<const O extends Operation>(operation: O, request: RequestOf<O>): Promise<ReplyOf<O>>;
};

export type Introduction = { readonly name: string; readonly organizationName: string; readonly productRoles: ProductRole[] };

/** Sends a request. If many demos in one minute have reached the rate limit of sign-ups, it waits and tries again. */
async function post(serviceUrl: string, path: string, body: unknown): Promise<Response> {
  const response = await fetch(`${serviceUrl}/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: serviceUrl },
    body: JSON.stringify(body),
  });
  if (response.ok) return response;
  const seconds = Number(response.headers.get("retry-after"));
  if (response.status === 429 && seconds > 0) {
    note(`Too many sign-ups in one minute. The next attempt is in ${seconds} s.`);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return post(serviceUrl, path, body);
  }
  throw new Error(`${path} answered ${response.status}.`, { cause: (await response.json()) as ErrorBody });
}

/** Signs up, signs in and completes the onboarding, as a browser would. */
export async function introduce(serviceUrl: string, introduction: Introduction): Promise<Person> {
  const { name, organizationName, productRoles } = introduction;
  const email = `${name.toLowerCase()}.${randomBytes(4).toString("hex")}@example.com`;
  const password = randomBytes(15).toString("base64url");
  await post(serviceUrl, "/sign-up/email", { name, email, password });
  const signedIn = await post(serviceUrl, "/sign-in/email", { email, password });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const options = { baseUrl: serviceUrl, headers: { cookie, origin: serviceUrl } };
  const { session } = await call(completeOnboarding, { body: { organizationName, productRoles } }, options);
  const organizationId = session.activeOrganization?.organizationId;
  if (!organizationId) throw new Error("The onboarding made no organization.", { cause: session });
  return {
    email,
    password,
    organizationId,
    session,
    options,
    open: (url) => fetch(url, { headers: { cookie } }),
    ask: (operation, request) => call(operation, request, options),
  };
}
