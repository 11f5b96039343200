import type { z } from "zod";
import type { ProblemCode } from "#lib/problem.ts";
import type { Capability, Environment, PlatformCapability } from "#lib/vocabulary.ts";

/** Who may call an operation. The field is required, so that no operation is public by mistake. */
export type Access =
  | "anyone"
  | "authenticated"
  | "session"
  | { readonly capability: Capability }
  | { readonly sessionCapability: Capability }
  | { readonly platformCapability: PlatformCapability };

/** The definition of one endpoint. Route, checks, OpenAPI, client and mount test read it; an endpoint is described nowhere else. */
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
  /** Uses the urgent connection pool, even for the session look-up, so that the operation never waits behind other requests. */
  readonly urgent?: true;
  readonly status?: 200 | 201;
  /** Milliseconds beyond the usual deadline, for an operation that may wait for a person. */
  readonly waitsMs?: number;
  /** The path of the idempotency key in the body, if it is not the member `idempotencyKey` of the body itself. */
  readonly idempotencyKeyAt?: readonly [string, string];
  /**
   * Paths of body fields that a client normally creates again for a retry. The fingerprint leaves them out, and the values of the first
   * request stay valid. Never list a field that says what is paid, to whom, or under which mandate.
   */
  readonly madeAnew?: readonly (readonly string[])[];
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly response: z.ZodType;
  /** Problems that it may throw besides invalid_request, access, limits and internal_error. */
  readonly problems: readonly ProblemCode[];
  /** Statuses to document besides the six base statuses. */
  readonly variants?: readonly (402 | 409 | 422 | 502)[];
  /** One worked example for the document; checked against the schemas by a test. */
  readonly example: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly response: unknown;
  };
};

/** Returns the definition unchanged. It only keeps literal types, so that all other types are inferred from the value. */
export const operation = <const O extends Operation>(definition: O): O => definition;

type PathParams<P extends string> = P extends `${string}{${infer N}}${infer R}`
  ? { readonly [K in N]: string } & PathParams<R>
  : unknown;

/** What a handler receives: path parameters, parsed query and parsed body. */
export type Input<O extends Operation> = PathParams<O["path"]> &
  (O["body"] extends z.ZodType ? { readonly body: z.output<O["body"]> } : unknown) &
  (O["query"] extends z.ZodType ? { readonly query: z.output<O["query"]> } : unknown);

/** What a client sends. */
export type RequestOf<O extends Operation> = PathParams<O["path"]> &
  (O["body"] extends z.ZodType ? { readonly body: z.input<O["body"]> } : unknown) &
  (O["query"] extends z.ZodType ? { readonly query?: z.input<O["query"]> } : unknown);

type CallerBase = {
  /** userId of a person or serviceAccountId of a key, as recorded in audit events and authorizations. */
  readonly subjectId: string;
  readonly environment: Environment;
  readonly capabilities: ReadonlySet<Capability>;
};

/** A service account. Its key is read again at each request, and once more under the gate by a batch of the hot path. */
export type KeyCaller = CallerBase & {
  readonly kind: "key";
  readonly organizationId: string;
  readonly serviceAccountId: string;
  readonly keyId: string;
  /** Whether a person has paused the agent. Only its capabilities to read then apply. */
  readonly paused?: boolean;
};

/** A person in a browser. organizationId is the active one, null before onboarding. */
export type SessionCaller = CallerBase & {
  readonly kind: "session";
  readonly organizationId: string | null;
  readonly userId: string;
  readonly sessionId: string;
  readonly platformCapabilities: ReadonlySet<PlatformCapability>;
};

export type Caller = KeyCaller | SessionCaller;

type WithOrganization<C extends Caller> = C & { readonly organizationId: string };

/** Capabilities belong to an organization, so a caller that passed a capability check has an organization. */
export type CallerFor<A extends Access> = A extends "anyone"
  ? Caller | null
  : A extends "authenticated"
    ? Caller
    : A extends "session" | { readonly platformCapability: PlatformCapability }
      ? SessionCaller
      : A extends { readonly sessionCapability: Capability }
        ? WithOrganization<SessionCaller>
        : WithOrganization<KeyCaller> | WithOrganization<SessionCaller>;

/** The idempotency key of this request, its fingerprint and the slot where both are stored. Null when the client sent no key. */
export type Idempotency = { readonly key: string; readonly slot: string; readonly fingerprint: string };

/** What a handler knows of its request besides the input. It has no clock, because the time comes from the database. */
export type Context<O extends Operation> = {
  readonly caller: CallerFor<O["access"]>;
  readonly requestId: string;
  readonly idempotency: Idempotency | null;
  /** Only for sign-in, which reads the request itself; other handlers use the input. */
  readonly request: Request;
};

const stored = Symbol.for("countersign.storedReply");

/** A reply whose bytes were fixed when the work was committed: replays send the same bytes. */
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

/** The reply of the three lists whose body contains only items. Their next page is named in the Link header. */
export type ListReply<T> = { readonly [listed]: true; readonly output: T; readonly nextCursor: string | null };

export const listedReply = <T>(output: T, nextCursor: string | null): ListReply<T> => ({ [listed]: true, output, nextCursor });
export const isListed = (reply: unknown): reply is ListReply<unknown> =>
  typeof reply === "object" && reply !== null && listed in reply;

export type Output<O extends Operation> = z.input<O["response"]>;

/** The function behind an operation. It loads, decides and saves. */
export type Handler<O extends Operation> = (
  input: Input<O>,
  context: Context<O>,
) => Promise<Output<O> | ListReply<Output<O>> | StoredReply>;
