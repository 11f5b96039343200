import type { Capability, MandateStatus } from "#lib/vocabulary.ts";

/** When a key was used last, and by whom as far as it said: the address is the network that the request came from. */
export type LastUse = { readonly at: string; readonly address: string; readonly userAgent?: string };

export type AccountView = {
  readonly serviceAccountId: string;
  readonly name: string;
  readonly capabilities: readonly Capability[];
  readonly createdAt: string;
  readonly revokedAt?: string;
  readonly keyPreview: string;
  /** Of the newest key. */
  readonly keyCreatedAt: string;
  readonly keyAgeDays: number;
  /** Two while a rotation's grace lasts. */
  readonly liveKeys: number;
  readonly lastUse?: LastUse;
};

export type AccountsView = {
  readonly items: readonly AccountView[];
  readonly nextCursor?: string;
  readonly live: number;
  readonly revoked: number;
};

export type KeyView = {
  readonly keyId: string;
  readonly preview: string;
  readonly status: "active" | "expired" | "revoked";
  readonly createdAt: string;
  /** When a key that was rotated ends, or ended. */
  readonly endsAt?: string;
  readonly lastUse?: LastUse;
};

export type AccountDetail = {
  readonly account: AccountView;
  readonly createdBy: string;
  readonly keys: readonly KeyView[];
  readonly mandates: readonly { readonly mandateId: string; readonly name: string; readonly status: MandateStatus }[];
  /** Active mandates that every agent may use. */
  readonly openMandates: number;
};
