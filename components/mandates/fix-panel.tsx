import { Said } from "#components/mandates/sentences.tsx";
import { assetOf } from "#components/mandates/headline.ts";
import { wordsOf } from "#components/mandates/words-of.ts";
import { AllowOnce } from "#components/payments/allow-once.tsx";
import { AllowedOnce } from "#components/payments/allowed-once.tsx";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Dated } from "#components/ui/dated.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { changeWords } from "#lib/mandates/draft/fix-words.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { differences } from "#lib/mandates/draft/summary-differences.ts";
import { plainText } from "#lib/mandates/draft/summary.ts";
import type { FixView } from "#lib/pages/buyer/view-fix.ts";

type Props = { readonly mandate: Mandate; readonly view: FixView };

const ROWS_MAX = 5;

const Difference = ({ mandate, view: { fix, names } }: Props) => {
  if (!fix) return null;
  const after = { agents: fix.agents ?? undefined, wallet: mandate.wallet };
  const { gone, come } = differences(wordsOf(mandate.policy, mandate, names), wordsOf(fix.policy, after, names));
  const asset = assetOf(mandate);
  return (
    <div className="grid grid-cols-1 gap-3 wrap-anywhere">
      <ul className="list-disc pl-5 font-560">
        {fix.changes.map((change) => (
          <li key={changeWords(change, asset)}>{changeWords(change, asset)}</li>
        ))}
      </ul>
      <dl className="grid grid-cols-1 gap-2 text-sm md:grid-cols-[auto_minmax(0,1fr)] md:gap-x-4">
        {(
          [
            ["Now", gone],
            ["With the change", come],
          ] as const
        ).map(([name, sentences]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd>
              {sentences.length === 0 && "No such rule."}
              {sentences.map((sentence) => (
                <p key={plainText(sentence)}>
                  <Said sentence={sentence} />
                </p>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
};

const Others = ({ view: { others, more } }: Pick<Props, "view">) => (
  <div className="grid grid-cols-1 gap-2">
    <h3>Other denied payments of the last 30 days that would pass</h3>
    {others.length === 0 && <p className="text-sm text-muted">No other denied payment would pass with this change.</p>}
    {others.length > 0 && (
      <ul className="grid grid-cols-1 gap-2 text-sm">
        {others.slice(0, ROWS_MAX).map(({ authorizationId, domain, amount, asset, decidedAt }) => (
          <li key={authorizationId} className="flex flex-wrap gap-x-3">
            <a className="wrap-anywhere" href={`/payments/${authorizationId}`}>
              <Untrusted>{domain ?? "Unknown seller"}</Untrusted>
            </a>
            <Money>{money(amount, asset)}</Money>
            <Moment at={decidedAt} show="short" />
          </li>
        ))}
        {others.length > ROWS_MAX && <li>And {others.length - ROWS_MAX} more.</li>}
      </ul>
    )}
    {more && <p className="text-sm text-muted">Only the last 200 decisions were tried.</p>}
  </div>
);

export function FixPanel({ mandate, view }: Props) {
  const { authorizationId, payee, amount, asker, decidedAt, why, fix, outcome } = view;
  return (
    <section className="panel mb-8" aria-labelledby="fix">
      <div className="panel-head">
        <h2 id="fix">{fix ? "Fix this denial" : "Nothing to fix"}</h2>
        <a href={`/payments/${authorizationId}`}>The payment</a>
      </div>
      <div className="panel-body grid grid-cols-1 gap-5">
        <div className="grid grid-cols-1 gap-1 text-sm wrap-anywhere">
          <p>
            <AskerName asker={asker} /> asked to pay <Money>{amount}</Money> to <Untrusted>{payee}</Untrusted> on{" "}
            <Moment at={decidedAt} />, and was denied:
          </p>
          <ul className="list-disc pl-5 text-muted">
            {why.map((message) => (
              <li key={message}>
                <Dated>{message}</Dated>
              </li>
            ))}
          </ul>
        </div>
        {view.allowed && <AllowedOnce allowed={view.allowed} />}
        {view.mayAllowOnce && (
          <>
            <AllowOnce {...{ authorizationId, asker, payee, amount }} />
            <h3>Or change the mandate</h3>
          </>
        )}
        <Difference mandate={mandate} view={view} />
        <p className="flex flex-wrap items-center gap-2 text-sm">
          {fix ? "The same request, asked again with the change:" : "The same request, asked again under the mandate as it is:"}
          <StatusBadge of="outcome" status={outcome} />
        </p>
        {fix && <Others view={view} />}
        <p className="text-sm text-muted">
          {fix
            ? "The form below has this change. Nothing changes until you save it, and nothing is paid until the payment is asked for again."
            : "The payment can be asked for again."}
        </p>
      </div>
    </section>
  );
}
