import type { z } from "zod";
import type { BodyLimits } from "#lib/http/json.ts";
import type { ProblemCode } from "#lib/problem.ts";
import type { Capability, Environment, PlatformCapability } from "#lib/vocabulary.ts";

/** Who may call an operation. An operation must have this field, so that none is public by mistake. */
export type Access =
  | "anyone"
  | "authenticated"
  | "session"
  | { readonly capability: Capability }
  | { readonly sessionCapability: Capability }
  | { readonly platformCapability: PlatformCapability };

/**
 * The definition of one endpoint. Routes, access checks, the API document, the client and tests are made from it, so an endpoint
 * is described only here.
 */
export type Operation = {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly tag:
    | "Payments"
    | "Commerce"
    | "Mandates"
    | "Onchain"
    | "Sellers"
    | "Billing"
    | "Identity"
    | "Platform"
    | "Audit"
    | "Webhooks"
    | "Health";
  readonly access: Access;
  /**
   * The operation uses the connection pool for urgent work, also to read the session, so that it never waits behind other
   * requests.
   */
  readonly urgent?: true;
  readonly status?: 200 | 201;
  /** An operation that waits for a person has this field: how many milliseconds longer than usual it may take. */
  readonly waitsMs?: number;
  /** The path of the idempotency key in the body, if it is not the body's own field `idempotencyKey`. */
  readonly idempotencyKeyAt?: readonly [string, string];
  /**
   * Paths of body fields that a client creates again for a retry, such as a signature. The comparison of a retry with the first
   * request leaves them out, and the values of the first request are kept. Never list a field that says what is paid, to whom,
   * or under which mandate.
   */
  readonly madeAnew?: readonly (readonly string[])[];
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /**
   * An operation that takes several requests in one body has this field: its own limits for the body, instead of the usual ones.
   */
  readonly bodyLimits?: BodyLimits;
  readonly response: z.ZodType;
  /**
   * The problems that the operation may throw, in addition to those that every operation may throw (invalid input, missing
   * rights, rate limits, internal errors).
   */
  readonly problems: readonly ProblemCode[];
  /** The error statuses in the API document, in addition to the six that all operations have. */
  readonly variants?: readonly (402 | 409 | 422 | 502)[];
  /** An example for the API document. A test checks it against the schemas. */
  readonly example: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly response: unknown;
  };
};

/** Returns the definition unchanged. The call makes TypeScript keep literal types, from which all other types are derived. */
export const operation = <const O extends Operation>(definition: O): O => definition;

type PathParams<P extends string> = P extends `${string}{${infer N}}${infer R}`
  ? { readonly [K in N]: string } & PathParams<R>
  : unknown;

/** The input of a handler: path parameters, parsed query and parsed body. */
export type Input<O extends Operation> = PathParams<O["path"]> &
  (O["body"] extends z.ZodType ? { readonly body: z.output<O["body"]> } : unknown) &
  (O["query"] extends z.ZodType ? { readonly query: z.output<O["query"]> } : unknown);

/** The parts of a request as a client sends them. */
export type RequestOf<O extends Operation> = PathParams<O["path"]> &
  (O["body"] extends z.ZodType ? { readonly body: z.input<O["body"]> } : unknown) &
  (O["query"] extends z.ZodType ? { readonly query?: z.input<O["query"]> } : unknown);

type CallerBase = {
  /** The id of the person or service account, as it is stored in audit events and authorizations. */
  readonly subjectId: string;
  readonly environment: Environment;
  readonly capabilities: ReadonlySet<Capability>;
};

/**
 * A service account with its API key. The key is read again at each request. Batches of authorizations and executions of
 * payments read it once more after they have locked out revocations.
 */
export type KeyCaller = CallerBase & {
  readonly kind: "key";
  readonly organizationId: string;
  readonly serviceAccountId: string;
  readonly keyId: string;
  /** Whether a person has paused the agent. A paused agent can only read. */
  readonly paused?: boolean;
  /** If a person chose mandates for the agent, the ids of these mandates. The agent may use no others. */
  readonly mandateIds?: readonly string[];
};

/** A person in a browser. organizationId is the active organization of their session; null if none is active. */
export type SessionCaller = CallerBase & {
  readonly kind: "session";
  readonly organizationId: string | null;
  readonly userId: string;
  readonly sessionId: string;
  readonly platformCapabilities: ReadonlySet<PlatformCapability>;
};

export type Caller = KeyCaller | SessionCaller;

type WithOrganization<C extends Caller> = C & { readonly organizationId: string };

/**
 * The type of the caller for an access rule. Capabilities belong to an organization, so a caller with a required capability has
 * an organization.
 */
export type CallerFor<A extends Access> = A extends "anyone"
  ? Caller | null
  : A extends "authenticated"
    ? Caller
    : A extends "session" | { readonly platformCapability: PlatformCapability }
      ? SessionCaller
      : A extends { readonly sessionCapability: Capability }
        ? WithOrganization<SessionCaller>
        : WithOrganization<KeyCaller> | WithOrganization<SessionCaller>;

/**
 * The idempotency key of this request, the fingerprint (a hash) of the request, and the slot (a hash of the key) under which the
 * reply is stored.
 */
export type Idempotency = { readonly key: string; readonly slot: string; readonly fingerprint: string };

/**
 * Everything about a request that a handler gets besides the input. It has no time, because handlers read the time from the
 * database.
 */
export type Context<O extends Operation> = {
  readonly caller: CallerFor<O["access"]>;
  readonly requestId: string;
  readonly idempotency: Idempotency | null;
  /** The HTTP request itself, for its headers and its abort signal. Handlers read path, query and body from the input. */
  readonly request: Request;
};

const stored = Symbol.for("countersign.storedReply");

/**
 * A reply whose body is ready as text. With an idempotency key, it was stored when the work was committed, so that a retry gets
 * the same bytes.
 */
export type StoredReply = { readonly [stored]: true; readonly status: number; readonly body: string; readonly replayed: boolean };

export const storedReply = (status: number, body: string, replayed: boolean): StoredReply => ({
  [stored]: true,
  status,
  body,
  replayed,
});
export const isStoredReply = (reply: unknown): reply is StoredReply =>
  typeof reply === "object" && reply !== null && stored in reply;

const listed = Symbol.for("countersign.listed");

/** The reply of a list whose body contains only `items`. The Link header names the next page. */
export type ListReply<T> = { readonly [listed]: true; readonly output: T; readonly nextCursor: string | null };

export const listedReply = <T>(output: T, nextCursor: string | null): ListReply<T> => ({ [listed]: true, output, nextCursor });
export const isListed = (reply: unknown): reply is ListReply<unknown> =>
  typeof reply === "object" && reply !== null && listed in reply;

export type Output<O extends Operation> = z.input<O["response"]>;

/** The function that does the work of an operation: it loads, decides and saves. */
export type Handler<O extends Operation> = (
  input: Input<O>,
  context: Context<O>,
) => Promise<Output<O> | ListReply<Output<O>> | StoredReply>;
