import { createHash, randomBytes } from "node:crypto";
import type { PasskeyRow } from "#lib/identity/passkeys/store.ts";
import { knownTransports, type PasskeyRequestOptions } from "#lib/identity/passkey-schema.ts";
import { relyingParty } from "#lib/identity/passkeys/relying-party.ts";
import { minutes } from "#lib/time.ts";

export const CHALLENGE_MS = minutes(5);
export const CHALLENGES_PER_MINUTE = 30;

export const newNonce = (): string => randomBytes(32).toString("base64url");

export type CheckoutTermsSigned = {
  readonly checkoutIntentId: string;
  readonly basketHash: string;
  readonly amount: bigint;
  readonly payTo: string;
};

/** One act that asks for a proof of its own; `terms` is a hash that names exactly this act. */
export type Act = { readonly subjectId: string; readonly terms: string };

/** The parts make a signature valid only for them, and the nonce makes each challenge new; no part can contain a line feed. */
export const boundChallenge = (parts: readonly string[], nonce: string): string =>
  createHash("sha256")
    .update([...parts, nonce].join("\n"))
    .digest("base64url");

export const checkoutParts = ({ checkoutIntentId, basketHash, amount, payTo }: CheckoutTermsSigned): readonly string[] => [
  checkoutIntentId,
  basketHash,
  amount.toString(),
  payTo,
];

/** The list with its terms, in this order, and their sum in the smallest unit. No other challenge begins with the same part. */
export const togetherParts = (listed: readonly CheckoutTermsSigned[], sum: bigint): readonly string[] => [
  "together",
  listed.length.toString(),
  ...listed.flatMap(checkoutParts),
  sum.toString(),
];

export const actParts = ({ subjectId, terms }: Act): readonly string[] => ["act", subjectId, terms];

/** Only a claim, because the signature is verified later; null if the challenge cannot be read. */
export function claimedChallenge(clientDataJSON: string): string | null {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8")) as { challenge?: unknown };
    return typeof challenge === "string" ? challenge : null;
  } catch {
    return null;
  }
}

export const descriptorsOf = (passkeys: readonly PasskeyRow[]) =>
  passkeys.map(({ credentialID, transports }) => ({
    id: credentialID,
    type: "public-key" as const,
    transports: knownTransports((transports ?? "").split(",")),
  }));

export const requestOptions = (challenge: string, passkeys: readonly PasskeyRow[]): PasskeyRequestOptions => ({
  challenge,
  rpId: relyingParty().id,
  allowCredentials: descriptorsOf(passkeys),
  timeout: CHALLENGE_MS,
  userVerification: "required",
});
