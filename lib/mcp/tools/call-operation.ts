import type { z } from "zod";
import { env } from "#lib/env.ts";
import { noteAddress, socketAddressOf } from "#lib/http/address.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";
import type { Served } from "#lib/mcp/reachable.ts";
import type { ErrorBody } from "#lib/problem.ts";

type Answer<T> = { readonly body: T; readonly replayed: boolean };

/** An operation refused the call of a tool. Its problem is the tool's answer. */
export class Refused extends Error {
  readonly problem: ErrorBody;

  constructor(problem: ErrorBody) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** @throws Refused */
export type Call = <O extends Operation>(served: Served<O>, input: RequestOf<O>) => Promise<Answer<z.output<O["response"]>>>;

type Parts = Readonly<Record<string, unknown>> & { readonly body?: unknown; readonly query?: Readonly<Record<string, unknown>> };

function urlOf({ path }: Operation, parts: Parts): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parts[name])));
  const query = Object.entries(parts.query ?? {}).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(query.map(([name, value]) => [name, String(value)]));
  return `${env().BASE_URL}${filled}${query.length === 0 ? "" : `?${search}`}`;
}

const copied = ["authorization", "x-forwarded-for"] as const;

/** If the MCP request ends, only waiting ends; other work is finished, so that a repeat finds its result. */
function requestFor(operation: Operation, parts: Parts, outer: Request, signal: AbortSignal): Request {
  const headers = new Headers({ "content-type": "application/json" });
  for (const name of copied) {
    const value = outer.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const { method, waitsMs } = operation;
  const body = method === "GET" ? null : JSON.stringify(parts.body ?? {});
  const request = new Request(urlOf(operation, parts), { method, headers, body, ...(waitsMs !== undefined && { signal }) });
  const address = socketAddressOf(outer);
  if (address !== undefined) noteAddress(request, address);
  return request;
}

export const callerOf =
  (outer: Request, signal: AbortSignal): Call =>
  async ({ operation, serve }, input) => {
    const { status, headers, body } = await serve(requestFor(operation, input as Parts, outer, signal));
    // The cast is safe, because the service itself wrote this text, by the schema of the operation or of problems.
    const parsed: unknown = JSON.parse(body ?? "null");
    if (status >= 400) throw new Refused(parsed as ErrorBody);
    return { body: parsed as never, replayed: headers["Idempotent-Replayed"] === "true" };
  };
