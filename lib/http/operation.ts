import type { z } from "zod";
import type { BodyLimits } from "#lib/http/json.ts";
import type { ProblemCode } from "#lib/problem.ts";
import type { Capability, Environment, PlatformCapability } from "#lib/vocabulary.ts";

/** Who may call an operation. Every operation must say it, so that none is public by mistake. */
export type Access =
  | "anyone"
  | "authenticated"
  | "session"
  /** The handler checks a signature over the bytes of the body, which is given as text and not read before. */
  | "signature"
  | { readonly capability: Capability; readonly orCapability?: Capability }
  | { readonly sessionCapability: Capability }
  | { readonly platformCapability: PlatformCapability };

/** Routes, access checks, the API document, the client and tests are made from this definition of an endpoint. */
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
    | "Cards"
    | "Health";
  readonly access: Access;
  /** Uses the pool for urgent work, also to read the session, so that it need not wait for an ordinary connection. */
  readonly urgent?: true;
  readonly status?: 200 | 201;
  /** Further headers of each reply. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Asked every few seconds, so a 503 is not logged: the module that answers logs what changes. */
  readonly tellsState?: true;
  /** How many milliseconds longer than usual an operation may take because it waits for a person. */
  readonly waitsMs?: number;
  /** The path of the idempotency key in the body, if it is not the body's own field `idempotencyKey`. */
  readonly idempotencyKeyAt?: readonly [string, string];
  /**
   * Body fields that a client creates again for a retry, such as a signature; the values of the first request are kept.
   * Never list a field that says what is paid, to whom, or under which mandate.
   */
  readonly madeAnew?: readonly (readonly string[])[];
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** For an operation that takes several requests in one body. */
  readonly bodyLimits?: BodyLimits;
  readonly response: z.ZodType;
  /** In addition to those of every operation: invalid input, missing rights, rate limits, internal errors. */
  readonly problems: readonly ProblemCode[];
  /** In addition to the six error statuses that all operations have in the API document. */
  readonly variants?: readonly (402 | 409 | 422 | 502)[];
  /** A test checks the example against the schemas. */
  readonly example: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly response: unknown;
  };
};

/** The call makes TypeScript keep literal types, from which all other types are derived. */
export const operation = <const O extends Operation>(definition: O): O => definition;

type PathParams<P extends string> = P extends `${string}{${infer N}}${infer R}`
  ? { readonly [K in N]: string } & PathParams<R>
  : unknown;

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

/** The key is read at each request, and by batches and executions once more after they have locked out revocations. */
export type KeyCaller = CallerBase & {
  readonly kind: "key";
  readonly organizationId: string;
  readonly serviceAccountId: string;
  readonly keyId: string;
  /** A paused agent can only read. */
  readonly paused?: boolean;
  /** If a person chose mandates for the agent, the agent may use no others. */
  readonly mandateIds?: readonly string[];
};

/** organizationId is the active organization of the session; null if none is active or the person is no member of it. */
export type SessionCaller = CallerBase & {
  readonly kind: "session";
  readonly organizationId: string | null;
  readonly userId: string;
  readonly sessionId: string;
  readonly platformCapabilities: ReadonlySet<PlatformCapability>;
};

export type Caller = KeyCaller | SessionCaller;

type WithOrganization<C extends Caller> = C & { readonly organizationId: string };

export type MemberCaller = WithOrganization<SessionCaller>;

/** Capabilities belong to an organization, so a caller with a required capability has an organization. */
export type CallerFor<A extends Access> = A extends "anyone"
  ? Caller | null
  : A extends "authenticated"
    ? Caller
    : A extends "signature"
      ? null
      : A extends "session" | { readonly platformCapability: PlatformCapability }
        ? SessionCaller
        : A extends { readonly sessionCapability: Capability }
          ? MemberCaller
          : WithOrganization<KeyCaller> | MemberCaller;

/** `fingerprint` is a hash of the request; `slot` is where the reply for the key is stored. */
export type Idempotency = { readonly key: string; readonly slot: string; readonly fingerprint: string };

/** Without the time, because handlers read the time from the database. */
export type Context<O extends Operation> = {
  readonly caller: CallerFor<O["access"]>;
  readonly requestId: string;
  readonly idempotency: Idempotency | null;
  /** Handlers read path, query and body from the input. */
  readonly request: Request;
};

const stored = Symbol.for("countersign.storedReply");

/** A reply whose body is already text and is sent unchanged, so that a retry can get the same bytes. */
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

export type Handler<O extends Operation> = (
  input: Input<O>,
  context: Context<O>,
) => Promise<Output<O> | ListReply<Output<O>> | StoredReply>;
