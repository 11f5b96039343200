import { verifyPassword } from "better-auth/crypto";
import { countAttempt } from "#lib/http/attempts.ts";
import { passwordHashOf } from "#lib/identity/user-store.ts";
import { invalidField } from "#lib/problem.ts";

const TRIES_PER_MINUTE = 5;

/** Passwords and passkeys with which a signed-in person proves their identity share one count. @throws Problem rate_limited */
export const countProof = (userId: string): Promise<void> => countAttempt("stepUp", userId, TRIES_PER_MINUTE);

/** Returns the stored hash. @throws Problem rate_limited, invalid_request */
export async function requirePassword(userId: string, password: string, pointer: string): Promise<string> {
  await countProof(userId);
  const hash = await passwordHashOf(userId);
  if (hash === null || !(await verifyPassword({ hash, password }))) throw invalidField(pointer, "This is not your password.");
  return hash;
}
