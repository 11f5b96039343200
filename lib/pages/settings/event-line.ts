export type EventLine = {
  readonly sequence: number;
  readonly auditEventId: string;
  readonly type: string;
  readonly actorId: string;
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
  /** Older events may follow even if this page has few events, because a page may search only a part of the audit log. */
  readonly nextCursor?: string;
  readonly length: number;
};

export type EventDetail = {
  readonly event: EventLine;
  readonly root: string;
  /** Whether the hash that is computed from the event is in the tree with this root. */
  readonly fits: boolean;
  readonly length: number;
};

/** `types` has the first parts of the event types. */
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
