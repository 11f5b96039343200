import { ArrowRight } from "lucide-react";
import { useFormContext } from "react-hook-form";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dated } from "#components/ui/dated.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { plural } from "#components/ui/plural.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { call, type ReplyOf } from "#lib/http/client.ts";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { Outcome } from "#lib/vocabulary.ts";
import { simulateMandate } from "../calls.ts";
import { PaymentItem } from "./parts.tsx";

type BacktestItem = Extract<ReplyOf<typeof simulateMandate>, { readonly items: unknown }>["items"][number];

/** The number of past decisions that the page asks simulateMandate to repeat; there may be fewer. */
const LAST = 200;
const ROWS_MAX = 3;

const effects: Readonly<Record<Outcome, string>> = { allow: "allow", deny: "deny", requireApproval: "approval" };

const whyOf = ({ wouldBe, reasons }: BacktestItem): string =>
  wouldBe === "allow"
    ? "Every rule is kept."
    : (reasons.find(({ effect }) => effect === effects[wouldBe])?.message ?? "A rule of the policy says so.");

const Change = ({ one }: { readonly one: BacktestItem }) => (
  <PaymentItem>
    <a className="font-560 wrap-anywhere" href={`/payments/${one.authorizationId}`}>
      <Untrusted>{one.domain ?? "Unknown seller"}</Untrusted>
    </a>
    <Money>{money(one.amount, one.asset)}</Money>
    <span className="col-span-full inline-flex items-center gap-2">
      <StatusBadge of="outcome" status={one.was} />
      <ArrowRight className="icon text-muted" aria-label="would be" />
      <StatusBadge of="outcome" status={one.wouldBe} />
    </span>
    <span className="col-span-full wrap-anywhere text-muted">
      <Moment at={one.decidedAt} show="short" />. <Dated>{whyOf(one)}</Dated>
    </span>
  </PaymentItem>
);

function Verdicts({ items }: { readonly items: readonly BacktestItem[] }) {
  const changed = items.filter(({ was, wouldBe }) => was !== wouldBe);
  const count = (outcome: Outcome) => changed.filter(({ wouldBe }) => wouldBe === outcome).length;
  const [first, rest] = [changed.slice(0, ROWS_MAX), changed.slice(ROWS_MAX)];
  return (
    <>
      <dl className="grid grid-cols-2 border-b md:grid-cols-4">
        {(
          [
            ["Same", items.length - changed.length],
            ["Would allow", count("allow")],
            ["Would ask", count("requireApproval")],
            ["Would deny", count("deny")],
          ] as const
        ).map(([name, figure]) => (
          <div key={name} className="border-l px-4 py-3 max-md:odd:border-l-0 md:first:border-l-0">
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="text-xl font-semibold tabular-nums">{figure}</dd>
          </div>
        ))}
      </dl>
      <ul className="divide-y">
        {first.map((one) => (
          <Change key={one.policyDecisionId} one={one} />
        ))}
      </ul>
      {rest.length > 0 && (
        <details className="panel-body">
          <summary>Show all {changed.length} changes</summary>
          <ul className="divide-y">
            {rest.map((one) => (
              <Change key={one.policyDecisionId} one={one} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** A trial reserves, stores and pays nothing. */
export function Trial({ mandateId }: { readonly mandateId: string }) {
  const { trigger, getValues } = useFormContext<MandateDraft>();
  const run = async () => {
    // An invalid form cannot be simulated; its fields show the errors.
    if (!(await trigger(undefined, { shouldFocus: true }))) return null;
    const { terms } = draftTermsOf(getValues());
    const reply = await call(simulateMandate, { id: mandateId, body: { policy: terms.policy, last: LAST } });
    return "items" in reply ? reply.items : [];
  };
  const tell = (tried: readonly BacktestItem[] | null) =>
    tried && announce(`Tried on ${tried.length} decisions, ${tried.filter(({ was, wouldBe }) => was !== wouldBe).length} change`);
  const { send, busy, error, data: items } = useOperation(run, { done: (tried) => void tell(tried), refresh: "never" });
  return (
    <section className="panel" aria-labelledby="trial">
      <div className="panel-head">
        <h2 id="trial">Trial on recent decisions</h2>
        <Button size="small" aria-busy={busy} onClick={() => send()}>
          {items ? "Try again" : "Try it"}
        </Button>
        <p>
          {items && items.length > 0
            ? `The last ${plural(items.length, "decision")}, with the values that you entered. Nothing is paid.`
            : `Decides the last ${LAST} requests again with the values that you enter. Nothing is paid.`}
        </p>
      </div>
      {error && (
        <div className="panel-body">
          <ProblemNotice error={error} nothing="Nothing was tried." />
        </div>
      )}
      {items?.length === 0 && <p className="panel-body text-sm text-muted">No agent has asked under this mandate yet.</p>}
      {items && items.length > 0 && <Verdicts items={items} />}
    </section>
  );
}
