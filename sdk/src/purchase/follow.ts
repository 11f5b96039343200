import { stepOf, type Execution, type Facts, type Maybe, type Step, type StepNamed } from "./step.ts";

/* Carries the steps of a purchase out, by the functions of a transport. */

type ExecuteStep = StepNamed<"execute">;

export type Refusal = { readonly code: string; readonly status: number };

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
  { code, status }: Refusal,
): Facts<E> | null {
  const { idempotencyKey, isRepeat } = step;
  const after = (answer: "late" | "none" | "inFlight") => ({
    ...facts,
    attempts: { ...facts.attempts, [idempotencyKey]: answer },
  });
  if (code === "idempotency_in_flight") return after("inFlight");
  // No execution was made with the repeated key, or that execution failed.
  if (isRepeat) return code === "authorization_consumed" || status === 402 ? after("none") : null;
  return code === "authorization_consumed" ? { ...after("late"), executions: null } : null;
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

type Takes<E extends Execution, S> = (step: S, facts: Facts<E>) => Promise<Facts<E> | null>;
type WaitFor<E extends Execution, For> = Extract<Step<E>, { readonly for: For }>;

/** What carries steps out, by their names or by what they wait for: the facts of then, or null to stop at the step. */
export type Transport<E extends Execution> = {
  readonly [Name in "authorize" | "ask" | "sign" | "execute" | "show"]?: Takes<E, StepNamed<Name, E>>;
} & { readonly [For in "person" | "payment" | "outcome"]?: Takes<E, WaitFor<E, For>> };

/** How a transport reaches the service for the steps that pay. */
export type Payer<E extends Execution> = {
  readonly executionsOf: (authorizationId: string) => Promise<readonly E[]>;
  /** The signed payment. Undefined if the service signs. */
  readonly sign: (authorizationId: string) => Promise<string | undefined>;
  readonly execute: (body: ExecuteBody) => Promise<E>;
  /** Null if the error is no refusal of the service. A refusal that ends the purchase stops at its step. */
  readonly refusalOf: (error: unknown) => Refusal | null;
};
type ExecuteBody = {
  readonly authorizationId: string;
  readonly idempotencyKey: string;
  readonly paymentCredential?: string;
};

/** The steps that pay. They are the same for every transport. */
export function paying<E extends Execution>(payer: Payer<E>): Transport<E> {
  let credential: string | undefined;
  return {
    payment: async ({ authorizationId }, facts) => ({ ...facts, executions: await payer.executionsOf(authorizationId) }),
    async sign({ authorizationId }, facts) {
      credential = await payer.sign(authorizationId);
      return { ...facts, isSigned: true };
    },
    async execute(step, facts) {
      const { authorizationId, idempotencyKey, isRepeat } = step;
      const signed = !isRepeat && credential !== undefined && { paymentCredential: credential };
      try {
        return afterExecution(facts, await payer.execute({ authorizationId, idempotencyKey, ...signed }));
      } catch (error) {
        const refusal = payer.refusalOf(error);
        if (!refusal) throw error;
        return afterRefusal(facts, step, refusal);
      }
    },
  };
}

export type Followed<E extends Execution = Execution> = { readonly step: Step<E>; readonly facts: Facts<E> };

/** Takes steps until the purchase ends, or until the transport stops. Returns the last step, which was not carried out. */
export async function follow<E extends Execution>(begun: Facts<E>, transport: Transport<E>): Promise<Followed<E>> {
  let facts = begun;
  for (;;) {
    const step = stepOf(facts);
    const name = step.step === "wait" ? step.for : step.step;
    const take = (transport as Readonly<Record<string, Takes<E, Step<E>> | undefined>>)[name];
    const next = take ? await take(step, facts) : null;
    if (!next) return { step, facts };
    facts = next;
  }
}
