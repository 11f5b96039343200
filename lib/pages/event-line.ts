/** One line of the audit log, as a page shows it. */
export type EventLine = {
  /** The number of the event in the organization's audit chain, starting at 1. */
  readonly sequence: number;
  readonly auditEventId: string;
  readonly type: string;
  readonly actorId: string;
  /** The name of the actor, if known. */
  readonly actorName?: string;
  readonly subjectId?: string;
  /** The name of the subject, if known. */
  readonly subjectName?: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly hash: string;
  readonly createdAt: string;
};

export type AuditPage = {
  readonly items: readonly EventLine[];
  /**
   * The cursor of the next page. Older events may follow even if this page has few events, because each page searches only a part
   * of the chain.
   */
  readonly nextCursor?: string;
  readonly length: number;
};

export type EventDetail = {
  readonly event: EventLine;
  readonly root: string;
  /** Whether the event matches its hash and is in the tree with this root. */
  readonly fits: boolean;
  readonly length: number;
};

/** The kinds of events to filter by: their names, and the first parts of the event types that they include. */
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
