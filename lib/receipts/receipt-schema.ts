import { z } from "zod";
import { Outcome, SettlementStatus } from "#lib/vocabulary.ts";

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** TextEncoder writes each unpaired surrogate as U+FFFD, so texts that differ only in them would have the same hash. */
const Text = z.string().refine((text) => text.isWellFormed());

/** A size or an index. The step that uses the number checks its range. JSON can contain -0, which is not valid here. */
const Count = z.number().refine((value) => !Object.is(value, -0));

/** Seconds since 1970, up to the year 9999. */
const Seconds = z.number().int().min(0).max(253_402_300_799);

const Proven = { event: Text, leafIndex: Count, treeSize: Count, path: z.array(Hash) };

export const Answer = z.strictObject({
  receipt: z.string(),
  proof: z.strictObject({ ...Proven, log: z.strictObject(Proven), head: z.string() }).optional(),
});
export type Proof = NonNullable<z.infer<typeof Answer>["proof"]>;

const Approval = z.object({ id: z.string(), basketHash: z.string(), assurance: z.string() });

const claims = {
  iss: z.string().refine((text) => /^https?:\/\//.test(text) && URL.canParse(text)),
  iat: Seconds,
  jti: z.string(),
  sub: z.string(),
  outcome: Outcome,
  mandate: z.object({ id: z.string(), version: z.number().int() }),
  agent: z.string(),
  payee: z.object({ domain: z.string().optional(), payTo: z.string().optional(), sellerId: z.string().optional() }),
  resource: z.object({ id: z.string().optional(), url: z.string().optional() }).optional(),
  amount: z.string().regex(/^(0|[1-9][0-9]{0,77})$/),
  decimals: z.number().int().min(0).max(255),
  asset: z.string(),
  approval: Approval.optional(),
  log: z.object({ chain: z.string(), leafIndex: Count, leafHash: Hash }),
};

const Authorization = z.object({
  ...claims,
  kind: z.literal("authorization"),
  denialCode: z.string().optional(),
  settlement: z.never().optional(),
});

const Execution = z.object({
  ...claims,
  kind: z.literal("execution"),
  denialCode: z.string().optional(),
  settlement: z.object({ status: SettlementStatus, transaction: z.string().optional() }),
});

const ApprovalReceipt = z.object({
  ...claims,
  kind: z.literal("approval"),
  approval: Approval,
  denialCode: z.string().optional(),
  settlement: z.never().optional(),
});

/** The signed claims of a receipt. Members that a later version adds are ignored, as in every JWT. */
export const Receipt = z
  .discriminatedUnion("kind", [Authorization, Execution, ApprovalReceipt])
  .refine(({ outcome, denialCode }) => denialCode === undefined || outcome === "deny");
export type Receipt = z.infer<typeof Receipt>;

export const Head = z.object({ iss: z.string(), iat: Seconds, log: z.string(), size: Count, root: Hash });

/** The members of an event that a receipt is compared with. */
export const LogEvent = z.object({
  type: z.string(),
  entityId: z.string(),
  subjectId: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()),
  /** Only shown, so a text that is no time is as good as none. */
  createdAt: z.iso.datetime().optional().catch(undefined),
});
export type LogEvent = z.infer<typeof LogEvent>;
