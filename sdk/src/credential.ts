import { decode } from "./challenge.ts";
import type { Context } from "./context.ts";
import type { NotServed, PaymentFailed } from "./errors.ts";
import { mppCredential } from "./mpp.ts";
import { payChallenge, requireBothIds, type Paid, type PayOptions } from "./pay.ts";
import { challengeOf } from "./required.ts";
import { notServed, type Refusal } from "./show.ts";

export type CredentialOptions = PayOptions & {
  /** The http address that asked for the payment. The mandate's policy is checked for the domain of this address. */
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
};

/** The credential of a payment that the service has executed. Send it to the seller, who may still have to settle it. */
export type Credential = Paid & {
  /** x402's headers for a request to the seller by HTTP. Empty for MPP. */
  readonly headers: Readonly<Record<string, string>>;
  /** x402's PaymentPayload or MPP's credential, for a seller that is not called by HTTP. */
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * Returns the error to throw if the seller does not serve. It first waits for the payment's outcome, for at most
   * `followSeconds`.
   */
  notServed(refusal?: Refusal): Promise<NotServed | PaymentFailed>;
};

type Json = Readonly<Record<string, unknown>>;

/** Whether the resource has a URL that is not an http address, such as mcp://tool/name, which does not name its server. */
function isNameless(required: unknown): required is Json & { readonly resource: Json } {
  const { resource } = (required ?? {}) as { readonly resource?: { readonly url?: unknown } };
  return typeof resource?.url === "string" && !/^https?:/i.test(resource.url);
}

/**
 * Pays x402's PaymentRequired or MPP's challenges, from any transport, and returns the credential for the seller. If the
 * resource is not an http address, such as a tool of an MCP server, the service checks `url`, the address of that server,
 * instead, and the seller gets the original name of the resource. MPP's charge can only be paid with a wallet of the client,
 * not by the service.
 * @throws the errors of pay.fetch, without SellerUnreachable and PaidButNotServed; NotServed only if the service settles the
 * payment itself and does not know the outcome yet
 */
export async function makeCredential(
  context: Context,
  required: unknown,
  { url, signal = new AbortController().signal, ...options }: CredentialOptions,
): Promise<Credential> {
  requireBothIds(options);
  const own = isNameless(required) ? required.resource : undefined;
  const asked = own && { ...(required as Json), resource: { ...own, url } };
  const challenge = await challengeOf(context, asked ?? required, url, signal);
  const paid = await payChallenge(context, challenge, options, signal);
  const headers = paid.execution.credentialHeaders ?? {};
  const signed = decode(Object.values(headers)[0] ?? "") as Json;
  return {
    ...paid,
    headers: challenge.mpp ? {} : headers,
    payload: challenge.mpp ? mppCredential(signed) : own ? { ...signed, resource: own } : signed,
    notServed: (refusal) => notServed(context, paid, signal, refusal),
  };
}
