"use client";

import { useState } from "react";
import { Select } from "#components/ui/field.tsx";
import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { call } from "#lib/http/client.ts";
import type { PlatformUser } from "#lib/platform/contract.ts";
import { banUser, unbanUser } from "./calls.ts";
import { REASON_MIN } from "./role-words.ts";

const HOUR_MS = 3_600_000;
const ends = [
  ["24", "24 hours"],
  ["720", "30 days"],
  ["", "No end"],
] as const;

type Props = { readonly user: Pick<PlatformUser, "userId" | "name"> };

export function Ban({ user: { userId, name } }: Props) {
  const [hours, setHours] = useState("24");
  const ban = (reason: string) => {
    const banExpires = hours === "" ? undefined : new Date(Date.now() + Number(hours) * HOUR_MS).toISOString();
    return call(banUser, { userId, body: { reason, ...(banExpires !== undefined && { banExpires }) } });
  };
  return (
    <ReasonDialog
      trigger="Ban"
      look={{ tone: "warn" }}
      title={`Ban ${name}`}
      action="Ban and revoke sessions"
      nothing="Nobody was banned."
      reasonMin={REASON_MIN}
      act={ban}
    >
      <div className="grid gap-4">
        <p>
          Every session ends with its next request, and the person cannot sign in. Service accounts belong to organizations and
          continue to work: stop an agent by an emergency revocation.
        </p>
        <Select label="Until" options={ends} value={hours} onChange={(event) => setHours(event.target.value)} />
      </div>
    </ReasonDialog>
  );
}

export const Unban = ({ user: { userId, name } }: Props) => (
  <ReasonDialog
    trigger="Lift the ban"
    title={`Lift the ban of ${name}`}
    action="Lift the ban"
    nothing="The ban was not lifted."
    reasonMin={REASON_MIN}
    act={(reason) => call(unbanUser, { userId, body: { reason } })}
  >
    This person can sign in again. Sessions that the ban ended stay ended.
  </ReasonDialog>
);
