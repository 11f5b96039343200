import { AsyncLocalStorage } from "node:async_hooks";
import { perProcess } from "#lib/process.ts";

type Proof = { userId: string | null };

const proofs = () => perProcess("identity/sessions/first-proof", () => new AsyncLocalStorage<Proof>());

/** `userId` is the user of an earlier account whose email address this request of better-auth confirmed, or null. */
export async function followFirstProof<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly userId: string | null }> {
  const proof: Proof = { userId: null };
  const result = await proofs().run(proof, work);
  return { result, userId: proof.userId };
}

/** better-auth's hooks call this, because they cannot return a value to followFirstProof. */
export function noteFirstProof(userId: string): void {
  const proof = proofs().getStore();
  if (proof) proof.userId = userId;
}
