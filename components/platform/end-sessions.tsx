"use client";

import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { call } from "#lib/http/client.ts";
import { revokeUserSessions } from "./calls.ts";
import { REASON_MIN } from "./role-words.ts";

type Props = { readonly userId: string; readonly name: string; readonly count: number; readonly self: boolean };

const sessions = (count: number): string => `${count} ${count === 1 ? "session" : "sessions"}`;

export const EndSessions = ({ userId, name, count, self }: Props) => (
  <ReasonDialog
    trigger={`Revoke ${sessions(count)}`}
    title={`Revoke the sessions of ${name}`}
    action="Revoke sessions"
    nothing="No session was revoked."
    reasonMin={REASON_MIN}
    act={(reason) => call(revokeUserSessions, { userId, body: { reason } })}
    done={({ revokedCount }) => `${sessions(revokedCount)} revoked`}
  >
    Every browser in which {self ? "you are" : "this person is"} signed in is signed out with its next request.
    {self && " This one too."} Signing in again is possible at once; a ban prevents it.
  </ReasonDialog>
);
