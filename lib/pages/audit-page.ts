/** One line of the audit log, as a page shows it. */
export type EventLine = {
  /** Its number in the organization's chain, from 1 on. */
  readonly sequence: number;
  readonly auditEventId: string;
  readonly type: string;
  readonly actorId: string;
  /** What people call the actor and the subject, as far as they are known. */
  readonly actorName?: string;
  readonly subjectId?: string;
  readonly subjectName?: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly hash: string;
  readonly createdAt: string;
};

export type AuditPage = {
  readonly items: readonly EventLine[];
  /** There may be more, also where this page has few: a page looks at a bounded stretch of the chain. */
  readonly nextCursor?: string;
  readonly length: number;
};

export type EventDetail = {
  readonly event: EventLine;
  readonly previousHash: string;
  /** Whether it fits its hash and the one before it. */
  readonly fits: boolean;
  readonly length: number;
};

/** What the log can be narrowed to: the first parts of the events' types, in the words of a person. */
export const kinds: Readonly<Record<string, { readonly name: string; readonly types: readonly string[] }>> = {
  payments: { name: "Payments", types: ["payment", "reservation"] },
  mandates: { name: "Mandates", types: ["mandate", "onchain"] },
  checkouts: { name: "Checkouts and orders", types: ["checkout", "continuation", "order"] },
  keys: { name: "Service accounts", types: ["serviceAccount"] },
  members: { name: "Members", types: ["member", "organization", "user", "session", "platformUser"] },
  selling: { name: "Sellers and resources", types: ["seller", "resource"] },
  billing: { name: "Billing", types: ["fee", "feeSchedule", "subscription"] },
  emergencies: { name: "Emergencies", types: ["emergency"] },
};
