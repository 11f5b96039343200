import { untilOnStandby } from "#lib/db/client.ts";
import { compileIdempotency } from "#lib/command/idempotency-key.ts";
import { check } from "#lib/http/input.ts";
import { BODY_BYTES_MAX, tooLarge } from "#lib/http/json.ts";
import { storedReply, type Context, type Handler, type Input } from "#lib/http/operation.ts";
import { requireAllowed, takeCredential } from "#lib/http/rate-limit.ts";
import { toProblem } from "#lib/http/reply.ts";
import { authorizeOne } from "#lib/payments/authorize-payment.ts";
import * as contract from "#lib/payments/contract.ts";
import { invalidField, problemBody, problems } from "#lib/problem.ts";

const { authorizePayment, authorizePayments: operation } = contract;
type One = typeof authorizePayment;

const readIdempotency = compileIdempotency(authorizePayment);
/** The keys of the payments are in the body, because one header cannot contain the keys of several payments. */
const noHeaders = { headers: { get: () => null } };

/** @throws Problem */
function authorizeItem(raw: unknown, { caller, requestId }: Pick<Context<One>, "caller" | "requestId">) {
  if (Buffer.byteLength(JSON.stringify(raw)) > BODY_BYTES_MAX) throw tooLarge(BODY_BYTES_MAX);
  const body = check(authorizePayment.body, raw, "") as Input<One>["body"];
  const idempotency = readIdempotency(noHeaders, { params: {}, raw, body }, caller);
  return authorizeOne({ body }, { caller, requestId, idempotency });
}

const keyOf = (raw: unknown): unknown =>
  (raw as { readonly intent?: { readonly idempotencyKey?: unknown } } | null)?.intent?.idempotencyKey;

/** No idempotency key occurs twice in a part, so that the second payment with a key gets the first one's stored reply. */
function partsOf(payments: readonly unknown[]): unknown[][] {
  const parts: unknown[][] = [];
  let keys = new Set<unknown>();
  for (const raw of payments) {
    const key = keyOf(raw);
    if (parts.length === 0 || (key !== undefined && keys.has(key))) {
      parts.push([]);
      keys = new Set();
    }
    keys.add(key);
    parts.at(-1)!.push(raw);
  }
  return parts;
}

/** Each payment is a separate entry in the queue, so a refused payment does not affect the other payments. */
export const authorizePayments: Handler<typeof operation> = async ({ body: { payments } }, { caller, requestId, request }) => {
  if (request.headers.get("idempotency-key") !== null)
    throw invalidField("/headers/Idempotency-Key", "Each payment has its own key: send it in intent.idempotencyKey.");
  let begun = 0;
  let isRepeat = false;
  const answer = async (raw: unknown): Promise<string> => {
    try {
      // The rate limit has already counted the HTTP request itself, so the first payment is not counted again.
      if ((begun += 1) > 1) requireAllowed(takeCredential(caller));
      const { status, body, replayed } = await authorizeItem(raw, { caller, requestId });
      isRepeat ||= replayed;
      return `{"status":${status},"replayed":${replayed},"authorization":${body}}`;
    } catch (error) {
      const problem = toProblem(error, requestId, operation.id);
      const { status } = problems[problem.code];
      const { retryAfterSeconds } = problem.details;
      return JSON.stringify({ status, retryAfterSeconds, problem: problemBody(problem, requestId) });
    }
  };
  const items: string[] = [];
  for (const part of partsOf(payments)) items.push(...(await Promise.all(part.map(answer))));
  if (isRepeat) await untilOnStandby();
  return storedReply(200, `{"items":[${items.join(",")}]}`, false);
};
