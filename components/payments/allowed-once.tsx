import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { AllowedOnce as View } from "#lib/pages/buyer/view-waiver.ts";

export const AllowedOnce = ({ allowed: { by, state, expiresAt, usedBy } }: { readonly allowed: View }) => (
  <Notice tone={state === "ended" ? "caution" : "positive"}>
    <p>
      <Untrusted>{by}</Untrusted> allowed this payment once.{" "}
      {state === "open" && (
        <>
          It can be asked for again until <Moment at={expiresAt} show="short" />.
        </>
      )}
      {state === "used" && (
        <>
          It was asked for again, and <a href={`/payments/${usedBy}`}>that payment</a> passed.
        </>
      )}
      {state === "ended" && "It was not asked for again in time, or the mandate has changed since then."}
    </p>
  </Notice>
);
