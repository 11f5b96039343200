import { eq } from "drizzle-orm";
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { env } from "#lib/env.ts";
import { addPasskey } from "#lib/identity/passkeys/add-passkey.ts";
import { challengePasskey } from "#lib/approvals/decision/challenge-passkey.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import type { PasskeyAssertion, PasskeyCredential } from "#lib/identity/passkey-schema.ts";
import { confirmIdentity } from "#lib/identity/passkeys/confirm-identity.ts";
import { registerPasskey } from "#lib/identity/passkeys/register-passkey.ts";
import { removePasskey } from "#lib/identity/passkeys/remove-passkey.ts";
import { passkey, session } from "#lib/identity/tables.ts";
import { database } from "#lib/db/client.ts";
import type { Person } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

/* An authenticator in software for passkeys. For tests of refusals, it also signs data that a browser would not let it sign. */

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();

/** Encodes a value in the part of CBOR that attestations need. */
function cbor(value: unknown): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
  };
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (!(value instanceof Map)) throw new Error("This CBOR is not needed.");
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])]);
}

export type AssertionOptions = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly verified?: boolean;
  readonly counter?: number;
};

export class Authenticator {
  readonly id = randomBytes(32);
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
  });
  #counter = 0;

  get credentialId(): string {
    return this.id.toString("base64url");
  }

  #clientData(
    type: "webauthn.create" | "webauthn.get",
    challenge: string,
    { origin = env().BASE_URL }: AssertionOptions,
  ): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  #data(
    { rpId = new URL(env().BASE_URL).hostname, verified = true, counter = ++this.#counter }: AssertionOptions,
    attested?: Buffer,
  ): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flags = 0x01 | (verified ? 0x04 : 0) | (attested ? 0x40 : 0);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)]);
  }

  create(challenge: string, signed: AssertionOptions = {}): PasskeyCredential {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const key = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]),
    );
    const length = Buffer.from([0, this.id.length]);
    const data = this.#data(signed, Buffer.concat([Buffer.alloc(16), length, this.id, key]));
    const attestation = cbor(
      new Map<string, unknown>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", data],
      ]),
    );
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: "public-key",
      response: {
        clientDataJSON: this.#clientData("webauthn.create", challenge, signed).toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal"],
      },
      clientExtensionResults: {},
    };
  }

  sign(challenge: string, signed: AssertionOptions = {}): PasskeyAssertion {
    const clientData = this.#clientData("webauthn.get", challenge, signed);
    const data = this.#data(signed);
    const signature = sign("sha256", Buffer.concat([data, sha256(clientData)]), this.#keys.privateKey);
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: "public-key",
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signature.toString("base64url"),
      },
      clientExtensionResults: {},
    };
  }
}

/** Starts the registration of a passkey in this session. Returns its challenge. */
export async function registration(as: Credential): Promise<string> {
  const { status, data, problem } = await send(contract.registerPasskey, registerPasskey, { as, body: {} });
  if (status !== 200) throw new Error(problem.detail);
  return data.options.challenge;
}

export const add = (as: Credential, credential: unknown, name = "Laptop") =>
  send(contract.addPasskey, addPasskey, { as, body: { name, credential } });

/** Registers a passkey for the person. Returns its id and its authenticator. */
export async function newPasskey(as: Credential): Promise<{ readonly passkeyId: string; readonly authenticator: Authenticator }> {
  const authenticator = new Authenticator();
  const { status, data, problem } = await add(as, authenticator.create(await registration(as)));
  if (status !== 201) throw new Error(JSON.stringify(problem));
  return { passkeyId: data.passkeyId, authenticator };
}

export const askChallenge = (as: Credential, checkoutIntentId?: string) =>
  send(contract.challengePasskey, challengePasskey, { as, body: checkoutIntentId === undefined ? {} : { checkoutIntentId } });

export async function challenge(as: Credential, checkoutIntentId?: string): Promise<string> {
  const { status, data, problem } = await askChallenge(as, checkoutIntentId);
  if (status !== 200) throw new Error(JSON.stringify(problem));
  return data.options.challenge;
}

export const remove = (as: Credential, id: string, key?: string) =>
  send(contract.removePasskey, removePasskey, { as, id, body: {}, ...(key !== undefined && { key }) });
export const confirm = (as: Credential, body: unknown) => send(contract.confirmIdentity, confirmIdentity, { as, body });
export const passkeysOf = ({ userId }: Pick<Person, "userId">) =>
  database().select().from(passkey).where(eq(passkey.userId, userId));

/** Makes the person's last proof of identity six minutes old: too old to change how they sign in (PROVED_MS, five minutes). */
export const outdateProof = ({ userId }: Pick<Person, "userId">) =>
  database()
    .update(session)
    .set({ provedAt: new Date(Date.now() - 6 * 60_000) })
    .where(eq(session.userId, userId));
