import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { perProcess } from "#lib/process.ts";
import { decrypt, encrypt } from "#lib/key-ring.ts";

/** An HMAC secret that the receiver has too, and an Ed25519 key pair. */
export type WebhookSecrets = { readonly hmac: Buffer; readonly seed: Buffer; readonly publicKey: Buffer };

export function newSecrets(): WebhookSecrets {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return { hmac: randomBytes(32), seed: Buffer.from(d, "base64url"), publicKey: Buffer.from(x, "base64url") };
}

export const secretText = ({ hmac }: WebhookSecrets): string => `whsec_${hmac.toString("base64")}`;
export const publicKeyText = ({ publicKey }: WebhookSecrets): string => `whpk_${publicKey.toString("base64")}`;

const PART = 32;

export const seal = ({ hmac, seed, publicKey }: WebhookSecrets, endpointId: string): string =>
  encrypt(Buffer.concat([hmac, seed, publicKey]), endpointId);

export function unseal(text: string, endpointId: string): WebhookSecrets | null {
  const open = decrypt(text, endpointId);
  return open && { hmac: open.subarray(0, PART), seed: open.subarray(PART, 2 * PART), publicKey: open.subarray(2 * PART) };
}

type Message = { readonly id: string; readonly timestamp: number; readonly body: string };

/** Decrypted secrets whose Ed25519 key is imported, so that they can sign many messages. */
export type Signer = { readonly hmac: Buffer; readonly privateKey: KeyObject };

const SIGNERS_MAX = 256;
const signers = (): Map<string, Signer> => perProcess("webhooks/secrets", () => new Map());

/** Null if the secrets cannot be decrypted. Cached by the encrypted text, which is another one after a rotation. */
export function signerOf(sealed: string, endpointId: string): Signer | null {
  const name = `${endpointId} ${sealed}`;
  const known = signers().get(name);
  if (known) return known;
  const secrets = unseal(sealed, endpointId);
  if (!secrets) return null;
  const { hmac, seed, publicKey } = secrets;
  const jwk = { kty: "OKP", crv: "Ed25519", d: seed.toString("base64url"), x: publicKey.toString("base64url") };
  const signer = { hmac, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
  if (signers().size >= SIGNERS_MAX) signers().clear();
  signers().set(name, signer);
  return signer;
}

function signaturesOf({ hmac, privateKey }: Signer, { id, timestamp, body }: Message): readonly string[] {
  const signed = Buffer.from(`${id}.${timestamp}.${body}`);
  return [
    `v1,${createHmac("sha256", hmac).update(signed).digest("base64")}`,
    `v1a,${sign(null, signed, privateKey).toString("base64")}`,
  ];
}

/** The headers of Standard Webhooks, with the signatures v1 (HMAC) and v1a (Ed25519) of each signer in order. */
export const signedHeaders = (secrets: readonly Signer[], message: Message): Record<string, string> => ({
  "webhook-id": message.id,
  "webhook-timestamp": String(message.timestamp),
  "webhook-signature": secrets.flatMap((one) => signaturesOf(one, message)).join(" "),
});
