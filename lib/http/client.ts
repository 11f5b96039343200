import type { z } from "zod";
import type { Operation, RequestOf } from "#lib/http/operation.ts";
import type { ErrorBody } from "#lib/problem.ts";

export type ReplyOf<O extends Operation> = z.output<O["response"]>;

/** `problem` is the body of the service's error reply. */
export class ProblemError extends Error {
  readonly problem: ErrorBody;

  constructor(problem: ErrorBody) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

export type CallOptions = {
  /** By default, the origin of the page in a browser. */
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Gives the proof of identity that the service asks for; if it returns true, the same request is sent once more. */
  readonly prove?: (problem: ErrorBody) => Promise<boolean>;
};

let usually: Pick<CallOptions, "prove"> = {};

/** In a browser, the page gives the proof for all calls. */
export const proveWith = (prove: CallOptions["prove"]): void => {
  usually = prove ? { prove } : {};
};

/** An operation without its schemas, which browsers need not load. */
export const atAddress = <O extends Operation>(address: Pick<O, "id" | "method" | "path">): O => address as O;

type Parts = { readonly body?: unknown; readonly query?: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;

const queryText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function urlOf({ path }: Operation, parts: Parts, baseUrl: string): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(parts[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts.query ?? {})) if (value !== undefined) query.set(name, queryText(value));
  return `${baseUrl.replace(/\/$/, "")}${filled}${query.size > 0 ? `?${query}` : ""}`;
}

const isProblemBody = (value: unknown): value is ErrorBody =>
  typeof value === "object" && value !== null && "code" in value && "requestId" in value;

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${new URL(response.url || "http://service").host} answered ${response.status} without JSON.`);
  }
}

/** An approval's page shows the fields for its own proof, so its refusal lists no methods. */
const asksForProof = ({ code, nextActions }: ErrorBody): boolean =>
  code === "step_up_required" && Array.isArray(nextActions[0]?.metadata?.["methods"]);

/** It also runs in browsers. @throws ProblemError */
export async function call<const O extends Operation>(
  operation: O,
  request: RequestOf<O>,
  options: CallOptions = {},
): Promise<ReplyOf<O>> {
  const { prove, ...once } = { ...usually, ...options };
  if (!prove) return callOnce(operation, request, once);
  try {
    return await callOnce(operation, request, once);
  } catch (error) {
    if (!(error instanceof ProblemError) || !asksForProof(error.problem) || !(await prove(error.problem))) throw error;
    return callOnce(operation, request, once);
  }
}

async function callOnce<const O extends Operation>(
  operation: O,
  request: RequestOf<O>,
  options: Omit<CallOptions, "prove">,
): Promise<ReplyOf<O>> {
  const parts = request as Parts;
  const { baseUrl = globalThis.location?.origin ?? "", headers, idempotencyKey, signal, fetch: send = fetch } = options;
  const response = await send(
    new Request(urlOf(operation, parts, baseUrl), {
      method: operation.method,
      headers: {
        accept: "application/json",
        ...(operation.method !== "GET" && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        ...headers,
      },
      ...(operation.method !== "GET" && { body: JSON.stringify(parts.body ?? {}) }),
      ...(signal && { signal }),
    }),
  );
  const body = await read(response);
  if (response.ok) return body as ReplyOf<O>;
  if (isProblemBody(body)) throw new ProblemError(body);
  throw new Error(`${operation.id} answered ${response.status}.`);
}
