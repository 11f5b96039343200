import type { Hex } from "viem";
import { createHash } from "node:crypto";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { PaymentPayloadV2Schema } from "@x402/core/schemas";
import type { PaymentPayload } from "@x402/core/types";
import { z } from "zod";
import { canonicalJson } from "#lib/canonical-json.ts";
import { Address, BYTES32, lower } from "#lib/evm.ts";
import { parseJson } from "#lib/http/json.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";
import { paymentHeaderV1, paymentSignatureHeader, type ExpectedPayment } from "#lib/x402/requirements.ts";
import { isVersion1, payloadFromVersion1 } from "#lib/x402/version-1.ts";

/**
 * A header value of at most 96 KiB, without characters that could end the header and begin another one. A seller may demand so
 * much in its 402, which a client repeats in its credential.
 */
export const CredentialText = z
  .string()
  .regex(
    /^[\x21-\x7e]{1,98304}$/,
    "Write the credential as the value of a PAYMENT-SIGNATURE header, or of x402 version 1's X-PAYMENT.",
  );

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

const Uint256 = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,77})$/)
  .transform((text) => BigInt(text))
  .refine((value) => value < 2n ** 256n);

const Eip3009 = z.object({
  signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2}){1,8192}$/),
  authorization: z.object({
    from: Address,
    to: Address,
    value: Uint256,
    validAfter: Uint256,
    validBefore: Uint256,
    nonce: z.string().regex(BYTES32),
  }),
});

/** Addresses, nonce and signature are in lower case, because they are compared or stored as keys. */
export type Credential = {
  readonly chain: string;
  readonly token: Hex;
  readonly payer: Hex;
  readonly payTo: Hex;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
  readonly signature: Hex;
  /** The offer that the credential says it accepts. It is not signed, so whoever sends the credential could change it. */
  readonly accepted: { readonly amount: string; readonly payTo: string; readonly name: unknown; readonly version: unknown };
  /** The payload in the form of version 2, whichever version was sent. */
  readonly payload: PaymentPayload;
  /** The payload that was sent, if it is of version 1. */
  readonly version1?: object;
  /** SHA-256 over the RFC 8785 text of the payload that was sent. */
  readonly hash: string;
};

/** The last second of the year 9999. Some payments are signed to be valid for ever, which no stored time can be. */
const LAST_SECOND = 253_402_300_799n;

/** From this time on the signed payment can no longer be settled. */
export const endOf = ({ validBefore }: Pick<Credential, "validBefore">): Date =>
  new Date(Number(validBefore < LAST_SECOND ? validBefore : LAST_SECOND) * 1000);

export type DecodedCredential = { readonly ok: true; readonly credential: Credential } | ({ readonly ok: false } & Failure);

const malformed = (detail: string) => failed("credential_malformed", detail);

/** Skips characters that are not base64. Undefined if the result is not JSON within the limits of `parseJson`. */
export function readBase64Json(text: string): unknown {
  try {
    return parseJson(utf8.decode(Buffer.from(text, "base64")));
  } catch {
    return undefined;
  }
}

/** With `expected`, it also reads version 1's X-PAYMENT header. For any input it returns a result and never throws. */
export function decodeCredential(header: string, expected?: ExpectedPayment): DecodedCredential {
  if (!CredentialText.safeParse(header).success || !BASE64.test(header))
    return malformed("The payment credential is not base64 of at most 96 KiB.");
  const json = readBase64Json(header);
  if (typeof json !== "object" || json === null) return malformed("The payment credential is not base64 of a JSON object.");
  return readCredential(json, expected);
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The hash is the same in both x402 versions, and for hex in upper and in lower case. */
export const signatureHash = ({ signature }: Pick<Credential, "signature">): string =>
  createHash("sha256")
    .update(Buffer.from(signature.slice(2), "hex"))
    .digest("hex");

/** If the header value contains neither a JSON object nor an array, the value itself is hashed. */
export function credentialHash(header: string): string {
  const json = readBase64Json(header);
  return hashOf(typeof json === "object" && json !== null ? canonicalJson(json) : header);
}

/** `json` must come from `parseJson`, directly or through the database. */
export function readCredential(json: object, expected?: ExpectedPayment): DecodedCredential {
  if (!expected || !isVersion1(json)) return readVersion2(json);
  const converted = payloadFromVersion1(json, expected);
  if (!converted.ok) return converted;
  const read = readVersion2(converted.payload);
  return read.ok ? { ok: true, credential: { ...read.credential, version1: json, hash: hashOf(canonicalJson(json)) } } : read;
}

function readVersion2(json: object): DecodedCredential {
  const parsed = PaymentPayloadV2Schema.safeParse(json);
  if (!parsed.success) return malformed("The payment credential is not an x402 version 2 payment payload.");
  const { accepted, payload } = parsed.data;
  if (accepted.scheme !== "exact") return failed("scheme_unsupported", "Only the x402 scheme exact is supported.");
  if ("permit2Authorization" in payload || "permissionContext" in payload)
    return failed("scheme_unsupported", "Only EIP-3009 authorizations are supported.");
  const exact = Eip3009.safeParse(payload);
  if (!exact.success) return malformed("The payment credential has no EIP-3009 authorization with a signature.");
  const { authorization, signature } = exact.data;
  const credential: Credential = {
    chain: accepted.network,
    token: lower(accepted.asset),
    payer: lower(authorization.from),
    payTo: lower(authorization.to),
    value: authorization.value,
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
    nonce: lower(authorization.nonce),
    signature: lower(signature),
    accepted: {
      amount: accepted.amount,
      payTo: lower(accepted.payTo),
      name: accepted.extra?.name,
      version: accepted.extra?.version,
    },
    payload: json as PaymentPayload,
    hash: hashOf(canonicalJson(json)),
  };
  return { ok: true, credential };
}

/** The payment is encoded again, so that every parser reads exactly what was verified here. */
export const credentialHeaders = ({ payload, version1 }: Credential): Record<string, string> => ({
  [paymentSignatureHeader]: encodePaymentSignatureHeader(payload),
  ...(version1 && { [paymentHeaderV1]: Buffer.from(JSON.stringify(version1)).toString("base64") }),
});
