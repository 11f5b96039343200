import { z } from "zod";

const Base64Url = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, "This is not base64url.");
const transport = z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"]);
const attachment = z.enum(["platform", "cross-platform"]).nullish();
const extensions = z.record(z.string().max(64), z.unknown()).default({});
const credential = { id: Base64Url(1400), rawId: Base64Url(1400), type: z.literal("public-key") };

export const PasskeyAssertion = z
  .strictObject({
    ...credential,
    response: z.strictObject({
      clientDataJSON: Base64Url(4096),
      authenticatorData: Base64Url(4096),
      signature: Base64Url(8192),
      userHandle: Base64Url(128).nullish(),
    }),
    authenticatorAttachment: attachment,
    clientExtensionResults: extensions,
  })
  .meta({ id: "PasskeyAssertion", description: "The result of navigator.credentials.get(), in the form of its toJSON()." });
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

export const PasskeyCredential = z
  .strictObject({
    ...credential,
    response: z.strictObject({
      clientDataJSON: Base64Url(4096),
      attestationObject: Base64Url(32_768),
      authenticatorData: Base64Url(8192).nullish(),
      publicKey: Base64Url(8192).nullish(),
      publicKeyAlgorithm: z.int().nullish(),
      transports: z.array(z.string().max(32)).max(16).nullish(),
    }),
    authenticatorAttachment: attachment,
    clientExtensionResults: extensions,
  })
  .meta({ id: "PasskeyCredential", description: "The result of navigator.credentials.create(), in the form of its toJSON()." });
export type PasskeyCredential = z.infer<typeof PasskeyCredential>;

const Descriptor = z.object({ id: z.string(), type: z.literal("public-key"), transports: z.array(transport).optional() });

/** In the form that PublicKeyCredential.parseRequestOptionsFromJSON() reads. */
export const PasskeyRequestOptions = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    allowCredentials: z.array(Descriptor),
    timeout: z.int(),
    userVerification: z.literal("required"),
  })
  .meta({ id: "PasskeyRequestOptions" });
export type PasskeyRequestOptions = z.infer<typeof PasskeyRequestOptions>;

/** In the form that PublicKeyCredential.parseCreationOptionsFromJSON() reads. */
export const PasskeyCreationOptions = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
    timeout: z.int(),
    excludeCredentials: z.array(Descriptor),
    authenticatorSelection: z.object({
      residentKey: z.literal("required"),
      requireResidentKey: z.literal(true),
      userVerification: z.literal("required"),
    }),
    attestation: z.literal("none"),
  })
  .meta({ id: "PasskeyCreationOptions" });
export type PasskeyCreationOptions = z.infer<typeof PasskeyCreationOptions>;

export const knownTransports = (said: readonly string[]): z.infer<typeof transport>[] =>
  transport.options.filter((one) => said.includes(one));
