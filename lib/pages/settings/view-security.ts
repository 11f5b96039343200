import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { addressText } from "#lib/pages/settings/address-text.ts";
import { authMethods } from "#lib/identity/sessions/auth-methods.ts";
import { deviceOf } from "#lib/push/device.ts";
import type { Passkey } from "#lib/identity/passkeys/contract.ts";
import { otherWaysIn, passkeysOf } from "#lib/identity/passkeys/store.ts";
import { presentPasskey } from "#lib/identity/passkeys/present-passkey.ts";
import { liveSessionsOf } from "#lib/identity/sessions/session-store.ts";
import { toWire } from "#lib/time.ts";
import { readNotices, type Notices } from "#lib/notices/read-notices.ts";

const SESSIONS = 100;

export type SessionView = {
  readonly sessionId: string;
  /** A name that is derived from the user agent of the browser. */
  readonly device: string;
  /** For an IPv6 address its network of 64 bits. */
  readonly address: string | null;
  /** One of the methods in Session.authMethods. */
  readonly provider: string;
  readonly createdAt: string;
  /** Accurate to an hour, because an active session's row is updated once an hour. */
  readonly lastUsedAt: string;
  readonly current: boolean;
};

export type SecurityView = {
  readonly sessions: readonly SessionView[];
  readonly passkeys: readonly Passkey[];
  readonly passkeysOffered: boolean;
  readonly hasPassword: boolean;
  /** The person's sign-in methods other than passkeys and links by mail, by their names in Session.authMethods. */
  readonly otherWays: readonly string[];
};

export async function viewSecurity({ userId, sessionId }: SessionCaller): Promise<SecurityView> {
  const [rows, passkeys, otherWays] = await Promise.all([
    liveSessionsOf(userId, SESSIONS),
    passkeysOf(database(), userId),
    otherWaysIn(database(), userId),
  ]);
  return {
    sessions: rows
      .map((row) => ({
        sessionId: row.sessionId,
        device: deviceOf(row.userAgent),
        address: addressText(row.ipAddress),
        provider: row.provider,
        createdAt: toWire(row.createdAt),
        lastUsedAt: toWire(row.updatedAt),
        current: row.sessionId === sessionId,
      }))
      .toSorted((a, b) => Number(b.current) - Number(a.current)),
    passkeys: passkeys.map(presentPasskey),
    passkeysOffered: authMethods().passkey,
    hasPassword: otherWays.includes("emailPassword"),
    otherWays,
  };
}

export type NoticesView = Notices;

export const viewNotices = (caller: SessionCaller): Promise<NoticesView> => readNotices(database(), caller);
