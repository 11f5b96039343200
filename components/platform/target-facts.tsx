import { Notice } from "#components/ui/notice.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { statusWord } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { TargetView } from "#lib/pages/admin/view-targets.ts";

const kinds = { mandate: "Mandate", agent: "Agent", seller: "Seller" } as const;
const states = { active: "Active", revoked: "Revoked", stopped: "Stopped" } as const;

const stateOf = ({ kind, facts }: TargetView): string => {
  if (!facts) return "";
  if (kind === "mandate" && facts.state !== "stopped" && facts.state !== "revoked") return statusWord("mandate", facts.state);
  return states[facts.state as keyof typeof states];
};

type Reach = TargetView["reach"];

const names = (reach: Reach) =>
  reach.map(({ kind, value, subdomains }, at) => (
    <span key={`${kind} ${value}`}>
      {at > 0 && ", "}
      <code>{value}</code>
      {subdomains && " and its subdomains"}
    </span>
  ));

function WhatItReaches({ reach }: { readonly reach: Reach }) {
  const proven = reach.filter((one) => one.proven);
  const claimed = reach.filter((one) => !one.proven);
  return (
    <ul className="grid gap-2 text-sm">
      {proven.length > 0 && (
        <li>Also stops every seller at, or paid to, {names(proven)}: this seller has proven that these are its own.</li>
      )}
      {claimed.length > 0 && (
        <li>
          Also stops sellers that name {names(claimed)} and have proven nothing: this seller only claims these. Sellers that have
          verified the domain or proven the address continue.
        </li>
      )}
    </ul>
  );
}

export function TargetFacts({ target }: { readonly target: TargetView }) {
  const { kind, id, facts, reach, held, underWay, moreUnderWay } = target;
  if (!facts) {
    return (
      <Notice tone="caution">
        There is no {kind} <code>{id}</code> in this installation.
      </Notice>
    );
  }
  const authorized = held.reduce((sum, one) => sum + one.count, 0);
  return (
    <section aria-label={kinds[kind]}>
      <ul className="impact">
        <li>
          <span>
            {kinds[kind]} <Untrusted>{facts.name}</Untrusted>
            {facts.domain !== null && <>, {facts.domain}</>}, <Untrusted>{facts.organizationName}</Untrusted>
          </span>
          <strong>{stateOf(target)}</strong>
        </li>
        {facts.keys !== null && (
          <li>
            <span>Live keys</span>
            <strong>{facts.keys}</strong>
          </li>
        )}
        <li>
          <span>Authorizations not yet executed</span>
          <strong>{authorized}</strong>
        </li>
        {held.map(({ asset, amount }) => (
          <li key={asset}>
            <span>Held, released to the buyer</span>
            <strong>
              <Money>{money(amount, asset)}</Money>
            </strong>
          </li>
        ))}
        <li>
          <span>Submitted already</span>
          <strong>{`${moreUnderWay ? "More than " : ""}${underWay.length}`}</strong>
        </li>
      </ul>
      {reach.length > 0 && <WhatItReaches reach={reach} />}
      {underWay.length > 0 && (
        <Notice tone="caution">
          <strong>Submitted payments continue.</strong> Each keeps its hold and is followed to its end:{" "}
          {underWay.slice(0, 3).map(({ executionId, amount, asset, status }, index) => (
            <span key={executionId}>
              {index > 0 && ", "}
              <Money>{money(amount, asset)}</Money> ({statusWord("settlement", status).toLowerCase()})
            </span>
          ))}
          {underWay.length > 3 && ` and ${moreUnderWay ? "at least " : ""}${underWay.length - 3} more`}.
        </Notice>
      )}
    </section>
  );
}
