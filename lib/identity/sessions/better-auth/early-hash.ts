import { defineRequestState } from "@better-auth/core/context";
import { createAuthMiddleware } from "better-auth/api";
import { hashPassword } from "better-auth/crypto";

const made = defineRequestState<{ readonly password: string; readonly hash: string } | null>(() => null);

/**
 * better-auth asks for the hash of a sign-up's password inside its transaction. On a busy machine a hash takes long, and the
 * transaction would hold a connection meanwhile and could reach its idle limit. So the hash is made before.
 */
export const hashBefore = createAuthMiddleware(async ({ path, body }) => {
  if (path !== "/sign-up/email") return;
  const { password } = body as { readonly password: string };
  await made.set({ password, hash: await hashPassword(password) });
});

/** The hash that hashBefore has made for this request, or a new one. */
export async function hash(password: string): Promise<string> {
  const early = await made.get();
  return early?.password === password ? early.hash : hashPassword(password);
}
