import { fetchWithin } from "./bounded.ts";
import type { Context } from "./context.ts";
import { NotServed, PaidButNotServed, PaymentFailed } from "./errors.ts";
import type { PaymentExecution, Receipt } from "./operations.ts";
import type { Paid } from "./pay.ts";
import { outcomeStep } from "./purchase/step.ts";
import { pause } from "./service.ts";

const TRIES = 3;
const PAUSE_MS = 1_000;
const POLL_MS = 500;

type Shown = Paid & { readonly request: Request; readonly headers: Readonly<Record<string, string>> };

/** What came in place of what was paid for: an answer by HTTP, the result of a tool, or an error. */
export type Refusal = { readonly response?: Response; readonly result?: unknown; readonly cause?: unknown };

/** The payments with which the answers of sellers were paid for. */
export const paidWith = new WeakMap<Response, Paid>();

/**
 * The caller's request with the credential. It goes to the URL that the caller gave and not to the end of the redirects, so that
 * fetch drops the caller's Authorization header at a redirect to another origin.
 */
function paidRequest({ request, headers }: Shown): Request {
  const all = new Headers(request.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Request(request.clone(), { headers: all });
}

/** Sends the request with the credential once. Null if no answer came in time. */
async function attempt(send: typeof fetch, paid: Shown, milliseconds: number, signal: AbortSignal): Promise<Response | null> {
  try {
    return await fetchWithin(milliseconds, send, paidRequest(paid));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/**
 * Shows the credential to the seller, again if its answer is lost or is a server error. A credential pays at most once.
 * @throws PaidButNotServed, NotServed, PaymentFailed
 */
export async function showCredential(context: Context, paid: Shown, signal: AbortSignal): Promise<Response> {
  let response: Response | null = null;
  const until = Date.now() + context.sellerSeconds * 1_000;
  for (let tries = 1; ; tries += 1) {
    const answer = await attempt(context.service.fetch, paid, until - Date.now(), signal);
    if (answer && answer.status < 400) {
      paidWith.set(answer, paid);
      return answer;
    }
    if (answer) await response?.body?.cancel().catch(() => {});
    response = answer ?? response;
    // The same credential is not shown again to a seller that refuses it or the request.
    if (answer && answer.status < 500) break;
    if (tries === TRIES || Date.now() + PAUSE_MS >= until) break;
    await pause(PAUSE_MS, signal);
  }
  throw await notServed(context, paid, signal, response ? { response } : {});
}

/** Returns the error for a seller that did not serve after the credential was sent. It depends on the payment's outcome. */
export async function notServed(
  context: Context,
  { authorization, execution: sent }: Paid,
  signal: AbortSignal,
  refusal: Refusal = {},
): Promise<NotServed | PaymentFailed> {
  const { api } = context.service;
  const until = Date.now() + context.followSeconds * 1_000;
  let step = outcomeStep(sent, { shown: "notServed", isLate: false });
  while (step.step === "wait") {
    const now = await api.getExecution({ executionId: sent.executionId }, { signal });
    step = outcomeStep(now, { shown: "notServed", isLate: Date.now() > until });
    if (step.step === "wait") await pause(POLL_MS, signal);
  }
  const { why = "notServed", execution = sent } = step.step === "ended" ? step : {};
  const { failureCode = "not_settled", failureDetail = "The payment failed." } = execution;
  if (why === "failed") return new PaymentFailed(authorization, failureCode, failureDetail);
  const failure = { authorization, execution, receipt: await receiptOf(context, execution, signal), ...refusal };
  return why === "paidButNotServed" ? new PaidButNotServed(failure) : new NotServed(failure);
}

async function receiptOf({ service }: Context, { executionId }: PaymentExecution, signal: AbortSignal): Promise<Receipt | null> {
  try {
    return await service.api.getExecutionReceipt({ executionId }, { signal });
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
