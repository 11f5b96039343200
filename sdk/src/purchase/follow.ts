import { stepOf, type Execution, type Facts, type Maybe, type Step, type StepNamed } from "./step.ts";

/* Carries the steps of a purchase out, by the functions of a transport. */

type ExecuteStep = StepNamed<"execute">;

/** The facts after an execution was read again. */
export const afterReading = <E extends Execution>(facts: Facts<E>, now: E): Facts<E> => ({
  ...facts,
  followed: now.executionId,
  executions: (facts.executions ?? []).map((one) => (one.executionId === now.executionId ? now : one)),
});

/** The facts after executePayment answered with an execution. A repeated answer can be older than what was read. */
export function afterExecution<E extends Execution>(facts: Facts<E>, execution: E): Facts<E> {
  const { executionId: followed } = execution;
  const known = facts.executions ?? [];
  const executions = known.some(({ executionId }) => executionId === followed) ? known : [execution, ...known];
  return { ...facts, followed, executions };
}

/** The facts after executePayment was refused. Null if the refusal ends the purchase. */
export function afterRefusal<E extends Execution>(
  facts: Facts<E>,
  step: ExecuteStep,
  { code, status }: { readonly code: string; readonly status: number },
): Facts<E> | null {
  const { idempotencyKey, isRepeat } = step;
  const after = (answer: "none" | "inFlight") => ({ ...facts, attempts: { ...facts.attempts, [idempotencyKey]: answer } });
  if (code === "idempotency_in_flight") return after("inFlight");
  // No execution was made with the repeated key, or that execution failed.
  if (isRepeat) return code === "authorization_consumed" || status === 402 ? after("none") : null;
  return code === "authorization_consumed" ? { ...after("none"), executions: null } : null;
}

export type Terms = {
  readonly idempotencyKey: string;
  readonly amount: string;
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string;
  readonly url: string;
};
type Intent = Readonly<Record<"idempotencyKey" | "amount" | "asset" | "chain", string>> & {
  readonly payTo?: Maybe<string>;
  readonly challenge?: Maybe<Readonly<Record<string, unknown>>>;
};

/**
 * The payment that an earlier call authorized for the same purchase. A seller may change parts of its 402 each time; the purchase is
 * the same if key, amount, token, payee and URL are the same.
 */
export const samePurchase = <P extends { readonly intent: Intent }>(payments: readonly P[], terms: Terms): P | undefined =>
  payments.find(({ intent }) => {
    const { url } = (intent.challenge?.["resource"] ?? {}) as { readonly url?: unknown };
    const isSame = (["idempotencyKey", "amount", "asset", "chain"] as const).every((name) => intent[name] === terms[name]);
    return isSame && url === terms.url && intent.payTo?.toLowerCase() === terms.payTo.toLowerCase();
  });

type Taken = Exclude<Step["step"], "ended" | "paidForAnother">;

/** The functions that carry steps out. They return the facts of then, or null to stop at the step. */
export type Transport<E extends Execution> = {
  readonly [Name in Taken]?: (step: StepNamed<Name, E>, facts: Facts<E>) => Promise<Facts<E> | null>;
};

export type Followed<E extends Execution = Execution> = { readonly step: Step<E>; readonly facts: Facts<E> };

/** Takes steps until the purchase ends, or until the transport stops. Returns the last step, which was not carried out. */
export async function follow<E extends Execution>(begun: Facts<E>, transport: Transport<E>): Promise<Followed<E>> {
  let facts = begun;
  for (;;) {
    const step = stepOf(facts);
    const take = (transport as Readonly<Record<string, (step: Step<E>, facts: Facts<E>) => Promise<Facts<E> | null>>>)[step.step];
    const next = take ? await take(step, facts) : null;
    if (!next) return { step, facts };
    facts = next;
  }
}
