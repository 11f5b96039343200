import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { LastUse } from "#lib/identity/keys/service-account-view.ts";

/** Each process writes the last uses of keys once a minute, so the shown use may be out of date. */
export function LastUsed({ use }: { readonly use: LastUse | undefined }) {
  if (!use) return "Never";
  return (
    <>
      <Moment at={use.at} show="ago" />
      <span className="sub">
        {use.address}
        {use.userAgent !== undefined && (
          <>
            , <Untrusted>{use.userAgent}</Untrusted>
          </>
        )}
      </span>
    </>
  );
}
