import type { PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/browser";
import { SaidError } from "#components/ui/said-error.ts";
import type {
  PasskeyAssertion,
  PasskeyCreationOptions,
  PasskeyCredential,
  PasskeyRequestOptions,
} from "#lib/identity/passkey-schema.ts";

export class PasskeyRefusal extends SaidError {}

function refusalOf(error: unknown): PasskeyRefusal {
  const { name } = error instanceof Error ? error : { name: "" };
  if (name === "InvalidStateError") return new PasskeyRefusal("This device has a passkey for your account already.");
  if (name === "NotSupportedError") return new PasskeyRefusal("This device cannot make a passkey that this service takes.");
  return new PasskeyRefusal("No passkey was used: the request was closed, or it expired.");
}

/** Loads the code for passkeys on demand, because most visits of a page do not need it. */
const load = () => import("@simplewebauthn/browser");

/** @throws PasskeyRefusal */
export async function signWithPasskey(options: Pick<PasskeyRequestOptions, "challenge">): Promise<PasskeyAssertion> {
  const optionsJSON = { ...options, userVerification: "required" } as PublicKeyCredentialRequestOptionsJSON;
  const { startAuthentication } = await load();
  try {
    return (await startAuthentication({ optionsJSON })) as PasskeyAssertion;
  } catch (error) {
    throw refusalOf(error);
  }
}

/** @throws PasskeyRefusal */
export async function makePasskey(options: PasskeyCreationOptions): Promise<PasskeyCredential> {
  const { startRegistration } = await load();
  try {
    return (await startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON })) as PasskeyCredential;
  } catch (error) {
    throw refusalOf(error);
  }
}
