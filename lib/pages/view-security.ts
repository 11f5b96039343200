import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { authMethods } from "#lib/identity/sessions/auth-methods.ts";
import { deviceOf } from "#lib/identity/sessions/device.ts";
import type { Passkey } from "#lib/identity/passkeys/passkey-contract.ts";
import { otherWaysIn, passkeysOf } from "#lib/identity/passkey-store.ts";
import { presentPasskey } from "#lib/identity/passkeys/present-passkey.ts";
import { isProved } from "#lib/identity/passkeys/proved.ts";
import { liveSessionsOf } from "#lib/identity/sessions/session-store.ts";
import { toWire } from "#lib/time.ts";

/** What the page shows; nobody is signed in at more places than that. */
const SESSIONS = 100;

export type SessionView = {
  readonly sessionId: string;
  /** From what the browser called itself. */
  readonly device: string;
  readonly address: string | null;
  /** A way in of Session.authMethods. */
  readonly provider: string;
  readonly createdAt: string;
  /** To the hour: a session in use is written down that often. */
  readonly lastUsedAt: string;
  readonly current: boolean;
};

export type SecurityView = {
  readonly sessions: readonly SessionView[];
  readonly passkeys: readonly Passkey[];
  readonly passkeysOffered: boolean;
  readonly hasPassword: boolean;
  /** How the person signs in besides passkeys: the names of Session.authMethods. */
  readonly otherWays: readonly string[];
  /** Whether the person proved who he is just now, so that he may change how he signs in. */
  readonly proved: boolean;
};

/** A person's own sessions, passkeys and ways in; of nobody else. */
export async function viewSecurity({ userId, sessionId }: SessionCaller): Promise<SecurityView> {
  const [rows, passkeys, otherWays, now] = await Promise.all([
    liveSessionsOf(userId, SESSIONS),
    passkeysOf(database(), userId),
    otherWaysIn(database(), userId),
    clock(database()),
  ]);
  const own = rows.find((row) => row.sessionId === sessionId);
  return {
    sessions: rows
      .map((row) => ({
        sessionId: row.sessionId,
        device: deviceOf(row.userAgent),
        address: row.ipAddress === "" ? null : row.ipAddress,
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
    proved: isProved(own?.provedAt ?? null, now),
  };
}
