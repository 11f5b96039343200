import type { Capability, MandateStatus } from "#lib/vocabulary.ts";

/** `address` is as networkOf returns it; `userAgent` is absent if the client sent none. */
export type LastUse = { readonly at: string; readonly address: string; readonly userAgent?: string };

export type AccountView = {
  readonly serviceAccountId: string;
  readonly name: string;
  readonly capabilities: readonly Capability[];
  readonly createdAt: string;
  readonly revokedAt?: string;
  readonly pausedAt?: string;
  /** The only mandates that the account may use; absent if the account is not limited to some mandates. */
  readonly mandateIds?: readonly string[];
  readonly keyPreview: string;
  /** When the newest key was made, even if it is revoked or expired; OAuth clients count only if there is no other key. */
  readonly keyCreatedAt: string;
  readonly keyAgeDays: number;
  /** The number of valid keys; a replaced key counts while it is valid, and OAuth clients do not count. */
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
  /** When the key was revoked or expired, or will expire; absent for a key without an end. */
  readonly endsAt?: string;
  readonly lastUse?: LastUse;
};

export type AccountDetail = {
  readonly account: AccountView;
  readonly createdBy: string;
  readonly keys: readonly KeyView[];
  readonly mandates: readonly { readonly mandateId: string; readonly name: string; readonly status: MandateStatus }[];
  /** The number of active mandates that name no agents. */
  readonly openMandates: number;
};
