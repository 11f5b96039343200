import { ProblemError } from "#lib/http/client.ts";

/** The result of a decision: "done", or why the service did not accept it or why its result is unknown. */
export type Outcome = "done" | { readonly why: string };

const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** If no usable answer comes, sends the decision once more with the same idempotency key, so that it counts only once. */
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

/** Sends decisions in order, because approvals may share a budget. */
export async function decideEach<T>(
  all: readonly T[],
  decide: (one: T, idempotencyKey: string) => Promise<unknown>,
  tell: (one: T, outcome: Outcome) => void,
): Promise<void> {
  for (const one of all) {
    const key = newKey();
    tell(one, await outcomeOf(() => decide(one, key)));
  }
}
