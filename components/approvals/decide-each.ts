import { ProblemError } from "#lib/http/client.ts";

/** How a decision ended: done, or why it does not count. */
export type Outcome = "done" | { readonly why: string };

/** Sends one decision with the idempotency key. */
type Decide<T> = (one: T, idempotencyKey: string) => Promise<unknown>;

const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** If no answer comes, the decision is sent once more: with the same idempotency key it counts once. */
async function outcomeOf(send: () => Promise<unknown>): Promise<Outcome> {
  try {
    await send().catch((error: unknown) => {
      if (error instanceof ProblemError) throw error;
      return send();
    });
    return "done";
  } catch (error) {
    const known = error instanceof ProblemError;
    return { why: known ? error.message : "The service did not answer. Open the request to see whether the decision counts." };
  }
}

/** Sends decisions one after another, each with its own idempotency key, because the next one sees what the last one used up. */
export async function decideEach<T>(
  all: readonly T[],
  decide: Decide<T>,
  tell: (one: T, outcome: Outcome) => void,
): Promise<void> {
  for (const one of all) {
    const key = newKey();
    tell(one, await outcomeOf(() => decide(one, key)));
  }
}
