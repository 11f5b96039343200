import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { viewBudget, type BudgetView, type RegistrationView } from "#lib/pages/buyer/view-on-chain.ts";
import { paymentsWords } from "./words.ts";

type Props = { readonly mandate: Mandate; readonly registration: RegistrationView; readonly implementation: string };
type Chain = NonNullable<BudgetView["chain"]>;

const NotDelegated = ({ implementation }: Pick<Props, "implementation">) => (
  <Notice tone="caution">
    <strong>The wallet does not delegate to our account contract, so nothing can be paid.</strong> Delegate it to{" "}
    <Copyable value={implementation} label="account contract" /> (EIP-7702) with a tool that holds its key.
  </Notice>
);

const used = ({ payments, partly, spent }: Chain, { payments: most, asset, perPayment }: RegistrationView) => {
  if (payments === null) return "No period is running";
  const of = `${partly && payments > 0 ? "at least " : ""}${payments} of ${paymentsWords(most)}`;
  if (spent !== null)
    return (
      <>
        <Money>{money(spent, asset)}</Money> in {of}
      </>
    );
  return (
    <>
      {of}
      {payments > 0 && (
        <>
          , each at most <Money>{money(perPayment, asset)}</Money>
        </>
      )}
    </>
  );
};

export async function ChainBudget({ mandate, registration, implementation }: Props) {
  const budget = await viewBudget(mandate.mandateId, registration.registrationId);
  if (budget === null) return null;
  const { chain, period, here } = budget;
  const { asset } = registration;
  return (
    <>
      {chain === null && (
        <Notice tone="caution">
          <strong>The chain does not answer now.</strong> These are the service’s own records. Reload the page to see those of the
          chain.
        </Notice>
      )}
      {chain !== null && !chain.delegated && !chain.revoked && <NotDelegated implementation={implementation} />}
      {chain?.revoked === true && registration.revocation === "none" && (
        <Notice tone="caution">
          <strong>The chain says that it is revoked.</strong> The wallet, or our guardian, closed it there. Nothing can be paid
          under it.
        </Notice>
      )}
      <Pairs
        items={[
          [
            "This period",
            period === null ? (
              "No period is running"
            ) : (
              <span key="period">
                <Moment at={period.start} show="short" /> to <Moment at={period.end} show="short" />
              </span>
            ),
          ],
          ["Used on chain", <span key="chain">{chain === null ? "Not known now" : used(chain, registration)}</span>],
          [
            "Counted here",
            <span key="here">
              <Money>{money(here.amount, asset)}</Money> in {paymentsWords(here.payments)}, those under way included
            </span>,
          ],
        ]}
      />
    </>
  );
}
