import { addressOf } from "#lib/http/address.ts";
import type { Caller } from "#lib/http/operation.ts";
import { env } from "#lib/env.ts";
import { isProblem, Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

export type Allowance = { readonly allowed: boolean; readonly remaining: number; readonly policy: string; readonly name: string };

type Bucket = { tokens: number; at: number };

const GENERATION_MAX = 50_000;

/** To limit memory, an id may be dropped after 50,000 other ids were seen; it starts again with a full bucket. */
export function createBuckets(
  name: string,
  ratePerSecond: number,
  burst = ratePerSecond,
): (id: string, nowMs?: number) => Allowance {
  const policy = `"${name}";q=${ratePerSecond};w=1`;
  let young = new Map<string, Bucket>();
  let old = new Map<string, Bucket>();
  return (id, nowMs = performance.now()) => {
    let bucket = young.get(id);
    if (!bucket) {
      if (young.size >= GENERATION_MAX) [old, young] = [young, new Map()];
      bucket = old.get(id) ?? { tokens: burst, at: nowMs };
      young.set(id, bucket);
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.at) * ratePerSecond) / 1000);
    bucket.at = nowMs;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const taken = bucket;
    return {
      allowed,
      // The reply's header reads this value when the reply is written, because one request may count several times.
      get remaining() {
        return Math.floor(taken.tokens);
      },
      policy,
      name,
    };
  };
}

const perCredential = () => perProcess("http/rate-limit credential", () => createBuckets("credential", env().RATE_LIMIT_PER_KEY));
const perAddress = () => perProcess("http/rate-limit address", () => createBuckets("address", env().RATE_LIMIT_PER_ADDRESS));

export const takeCredential = (caller: Caller): Allowance =>
  perCredential()(caller.kind === "key" ? caller.keyId : caller.sessionId);

export const takeAddress = (request: Request): Allowance => perAddress()(addressOf(request));

/** @throws Problem rate_limited */
export function requireAllowed({ allowed, policy, name }: Allowance): void {
  if (allowed) return;
  throw new Problem("rate_limited", {
    detail: `Too many requests from this ${name}. Wait a second and send fewer requests.`,
    retryAfterSeconds: 1,
    nextActions: [{ type: "retry_later", label: "Wait and try again" }],
    headers: { "RateLimit-Policy": policy, RateLimit: `"${name}";r=0;t=1` },
  });
}

/** A request without a caller, or refused by authentication, counts against its network address. @throws Problem rate_limited */
export async function limitAnonymous<C extends Caller | null>(request: Request, authenticated: Promise<C>): Promise<C> {
  const caller = await authenticated.catch((error: unknown) => {
    if (isProblem(error)) requireAllowed(takeAddress(request));
    throw error;
  });
  if (!caller) requireAllowed(takeAddress(request));
  return caller;
}
