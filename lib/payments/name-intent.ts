import { ClientId } from "#lib/ids.ts";
import type { AskedIntent, NamedIntent } from "#lib/payment-intent.ts";
import { invalidField } from "#lib/problem.ts";

const names = ["intentId", "nonce"] as const;

/** The key stands for a missing intentId or nonce, so it must be a valid id then. @throws Problem invalid_request */
export function nameIntent(intent: AskedIntent, key: string): NamedIntent {
  const missing = names.find((name) => intent[name] === undefined);
  if (missing !== undefined && !ClientId.safeParse(key).success) {
    throw invalidField(
      `/intent/${missing}`,
      `Send the ${missing}, or an idempotency key of 1 to 128 letters, digits and the characters _ . : - to stand for it.`,
    );
  }
  return { ...intent, intentId: intent.intentId ?? key, nonce: intent.nonce ?? key };
}
