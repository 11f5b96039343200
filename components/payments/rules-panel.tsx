import { Badge, type BadgeLook } from "#components/ui/badge.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Dated } from "#components/ui/dated.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { PERSON_APPROVED } from "#lib/mandates/policy/sentences-limits.ts";
import { ruleName } from "#lib/payments/refusals/decision-words.ts";
import type { Authorization } from "#lib/payment-intent.ts";

type Decision = Authorization["policyDecision"];
type Reason = Decision["reasons"][number];

const looks = {
  allow: { tone: "positive", icon: "check", word: "Allows" },
  deny: { tone: "danger", icon: "cross", word: "Denies" },
  approval: { tone: "accent", icon: "info", word: "Asks a person" },
  info: { icon: "info", word: "For information" },
  approved: { tone: "positive", icon: "check", word: "Approved" },
  notNeeded: { icon: "check", word: "Not needed" },
} as const satisfies Record<string, BadgeLook & { readonly word: string }>;

function lookOf({ effect, rule, limit, message }: Reason) {
  if (rule !== "approval" || effect !== "allow") return looks[effect];
  if (message === PERSON_APPROVED) return looks.approved;
  return limit === undefined ? looks.allow : looks.notNeeded;
}

export function Result(reason: Reason) {
  const { word, ...look } = lookOf(reason);
  return <Badge {...look}>{word}</Badge>;
}

function figure(value: string | undefined, unit: string | undefined) {
  if (value === undefined) return null;
  if (unit === undefined || unit === "payments") return value;
  return unit === "seconds" ? `${value} s` : <Money>{money(value, unit)}</Money>;
}

const columns = [
  {
    name: "Rule",
    cell: ({ rule, message }: Reason) => (
      <>
        {ruleName(rule)}
        <span className="sub">
          <Dated>{message}</Dated>
        </span>
      </>
    ),
  },
  { name: "Result", cell: (reason: Reason) => <Result {...reason} /> },
  { name: "Limit", numeric: true, cell: ({ limit, unit }: Reason) => figure(limit, unit) },
  { name: "Used before", numeric: true, cell: ({ used, unit }: Reason) => figure(used, unit) },
  { name: "This payment", numeric: true, cell: ({ requested, unit }: Reason) => figure(requested, unit) },
  { name: "Left before", numeric: true, cell: ({ remaining, unit }: Reason) => figure(remaining, unit) },
];

const titles = {
  allow: "Why it was allowed",
  deny: "Why it was denied",
  requireApproval: "Why a person is asked",
} as const satisfies Record<Decision["outcome"], string>;

function weight({ effect, limit }: Reason): number {
  if (effect === "deny") return 0;
  if (effect === "approval") return 1;
  return limit !== undefined ? 2 : 3;
}

type Numbered = Reason & { readonly at: number };

const Rules = ({ rows }: { readonly rows: readonly Numbered[] }) => (
  <Ledger caption="Rules evaluated for this payment" columns={columns} rows={rows} rowKey={({ at }) => String(at)} />
);

/** The rules that let the payment pass are folded if another rule did not. */
export function RulesPanel({ decision }: { readonly decision: Decision }) {
  const rows = decision.reasons.map((reason, at) => ({ ...reason, at })).toSorted((a, b) => weight(a) - weight(b));
  const folds = decision.outcome !== "allow";
  const [folded, shown] = [
    rows.filter((row) => folds && row.effect === "allow"),
    rows.filter((row) => !folds || row.effect !== "allow"),
  ];
  return (
    <section className="panel md:[&_tbody_th]:min-w-48 md:[&_td]:whitespace-nowrap" aria-labelledby="rules">
      <div className="panel-head">
        <h2 id="rules">{titles[decision.outcome]}</h2>
        <span className="text-muted text-sm">
          Decision <Copyable value={decision.policyDecisionId} label="policy decision id" />
        </span>
      </div>
      <Rules rows={shown} />
      {folded.length > 0 && (
        <details className="border-t [&>summary]:px-4 [&>summary]:py-3 md:[&>summary]:px-5">
          <summary>{folded.length === 1 ? "1 rule allows" : `${folded.length} rules allow`}</summary>
          <Rules rows={folded} />
        </details>
      )}
    </section>
  );
}
