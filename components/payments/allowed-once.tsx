import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { AllowedOnce as View } from "#lib/pages/view-waiver.ts";

export const AllowedOnce = ({ allowed: { by, state, expiresAt, usedBy } }: { readonly allowed: View }) => (
  <Notice tone={state === "ended" ? "caution" : "positive"}>
    <p>
      <Untrusted>{by}</Untrusted> allowed this payment once.{" "}
      {state === "open" && (
        <>
          The agent can ask again until <Moment at={expiresAt} show="short" />.
        </>
      )}
      {state === "used" && (
        <>
          The agent asked again, and <a href={`/payments/${usedBy}`}>that payment</a> passed.
        </>
      )}
      {state === "ended" && "The agent did not ask again in time, or the mandate has changed since then."}
    </p>
  </Notice>
);
