import { mppChallenges } from "./mpp.ts";

/* How tools of MCP servers ask for payment: by x402 in a result, or by MPP (Machine Payments Protocol) in a result or error. */

type Json = Readonly<Record<string, unknown>>;
type Result = {
  readonly isError?: unknown;
  readonly structuredContent?: unknown;
  readonly content?: unknown;
  readonly _meta?: unknown;
};

/** The payment that a tool asks for, and the name of the field of `_meta` for the credential. */
export type Asked = { readonly required: unknown; readonly field: "x402/payment" | "org.paymentauth/credential" };

const isRequired = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && "x402Version" in value && "accepts" in value;

/** x402's PaymentRequired in structuredContent, or as JSON in the first text, either directly or as `data` of "x402/error". */
function x402In({ isError, structuredContent, content }: Result): Json | null {
  if (isError !== true) return null;
  const [first] = Array.isArray(content) ? (content as readonly { readonly text?: unknown }[]) : [];
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(String(first?.text));
  } catch {
    // The text is a message for people and not JSON.
  }
  const wrapped = [structuredContent, parsed].map(
    (one) => (one as { "x402/error"?: { data?: unknown } } | null)?.["x402/error"]?.data,
  );
  return [structuredContent, parsed, ...wrapped].find(isRequired) ?? null;
}

const byMpp = (data: unknown): Asked | null =>
  mppChallenges(data) ? { required: data, field: "org.paymentauth/credential" } : null;

/** The payment that a tool's result asks for. Null if it asks for none. */
export function askedIn(result: unknown): Asked | null {
  const read = (result ?? {}) as Result;
  const required = x402In(read);
  if (required) return { required, field: "x402/payment" };
  return byMpp((read._meta as Json | undefined)?.["org.paymentauth/payment-required"]);
}

/**
 * The payment that an error asks for, by the error's data. Its code is not enough, because MCP uses it for other errors too.
 */
export const askedByError = (error: unknown): Asked | null => byMpp((error as { readonly data?: unknown } | null)?.data);
