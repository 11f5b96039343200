"use client";

import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { atAddress, call } from "#lib/http/client.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { REASON_MIN } from "./role-words.ts";

const verifySeller = atAddress<typeof contract.verifySeller>({
  id: "verifySeller",
  method: "POST",
  path: "/api/v1/platform/sellers/{id}/verify",
});

type Props = { readonly sellerId: string; readonly domain: string; readonly verified: boolean };

/** Verifies a seller without a proof of its domain, or undoes the verification. */
export const JudgeSeller = ({ sellerId, domain, verified }: Props) => (
  <ReasonDialog
    trigger={
      <>
        {verified ? "Take back" : "Verify"}
        <span className="sr"> {domain}</span>
      </>
    }
    look={{ size: "small", ...(verified && { tone: "warn" }) }}
    title={verified ? `Take back the verification of ${domain}` : `Verify ${domain}`}
    action={verified ? "Take back" : "Verify seller"}
    nothing="The seller was not changed."
    reasonMin={REASON_MIN}
    act={(reason) => call(verifySeller, { id: sellerId, body: { verified: !verified, reason } })}
  >
    {verified
      ? "Mandates that ask for verified sellers refuse it from the next payment on."
      : "Buyers see “Verified seller” beside this domain, and mandates that require one can pay it. Say what you have checked."}
  </ReasonDialog>
);
