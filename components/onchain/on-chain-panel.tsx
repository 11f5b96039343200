import { type ReactNode, Suspense } from "react";
import { Watch } from "#components/checkout/watch.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { networkName } from "#lib/chains/network-name.ts";
import type { OnChainView, RegistrationView } from "#lib/pages/buyer/view-on-chain.ts";
import { ChainBudget } from "./chain-budget.tsx";
import { Register } from "./register.tsx";
import { KeyWords, LimitFacts } from "./signing-words.tsx";

/** How often the page is read again while a registration or its revocation is under way. */
const WATCH_MS = 2_000;

const stateOf = ({ status, revocation }: RegistrationView) => (revocation === "none" ? status : revocation);

const moves = (registration: RegistrationView | null): boolean =>
  registration !== null && ["submitted", "requested", "sent"].includes(stateOf(registration));

const Transaction = ({ registration: { transaction } }: { readonly registration: RegistrationView }) =>
  transaction === null ? null : (
    <>
      <Copyable value={transaction.hash} label="transaction hash" />{" "}
      {transaction.href !== null && (
        <a href={transaction.href} rel="noreferrer" target="_blank">
          Look it up<span className="sr"> in the block explorer, opens a new tab</span>
        </a>
      )}
    </>
  );

const States = ({ registration, mandate }: { readonly registration: RegistrationView; readonly mandate: Mandate }) => (
  <Pairs
    items={[
      ["Here", <StatusBadge key="here" of="mandate" status={mandate.status} />],
      ["On chain", <StatusBadge key="chain" of="registration" status={stateOf(registration)} />],
      ["Submitted", <Moment key="submitted" at={registration.submittedAt} show="short" />],
      ...(registration.transaction === null
        ? []
        : [["Transaction", <Transaction key="hash" registration={registration} />] as const]),
      ["Id in the registry", <Copyable key="id" value={registration.onChainId} label="id in the registry" />],
    ]}
  />
);

const Said = ({ mandate, registration }: { readonly mandate: Mandate; readonly registration: RegistrationView }) => {
  const state = stateOf(registration);
  if (state === "submitted")
    return <Notice>The registration is on its way. The page shows when the chain has confirmed it.</Notice>;
  if (state === "requested" || state === "sent") {
    return (
      <Notice tone="caution">
        Nothing is paid under it here any more. The chain is asked to close it too: until that is confirmed, what was signed
        before may still settle.
      </Notice>
    );
  }
  if (state === "revoked") return <Notice>It is closed on the chain permanently. Nobody can pay under it.</Notice>;
  if (mandate.status === "suspended")
    return (
      <Notice tone="caution">The mandate is paused here, so nothing is paid. On the chain the limits stay as they are.</Notice>
    );
  return null;
};

type Props = { readonly mandate: Mandate; readonly view: OnChainView; readonly manage: boolean };

function Registered({
  mandate,
  view,
  registration,
}: Pick<Props, "mandate" | "view"> & { readonly registration: RegistrationView }) {
  return (
    <>
      <Said mandate={mandate} registration={registration} />
      <States registration={registration} mandate={mandate} />
      {registration.status === "registered" && (
        <Suspense fallback={<p className="text-sm">Asking the chain…</p>}>
          <ChainBudget mandate={mandate} registration={registration} implementation={view.implementation} />
        </Suspense>
      )}
      <details>
        <summary>What the wallet signed</summary>
        <div className="grid gap-3 mt-2">
          <LimitFacts limits={{ ...registration, chain: view.chain }} />
          <KeyWords path={registration.path} />
        </div>
      </details>
    </>
  );
}

function NotYet({ mandate, view, manage }: Props) {
  const { mandateId, status, wallet, policy } = mandate;
  const failed = view.current?.status === "failed" ? view.current : null;
  const text = (children: ReactNode) => <p>{children}</p>;
  if (status === "revoked") return text("It was never registered on chain. A revoked mandate cannot be registered.");
  if (status !== "active") return text("An active mandate can be registered. Until then nothing of it is on the chain.");
  if (!manage)
    return text("It is not registered. An owner or admin of the organization can register it with the mandate's wallet.");
  if (wallet === undefined) {
    return text(
      <>
        First name the wallet that pays: <a href={`/mandates/${mandateId}/edit`}>edit the mandate</a>, under “The wallet that
        pays”.
      </>,
    );
  }
  return (
    <>
      {failed && (
        <Notice tone="danger">
          <strong>The last registration failed.</strong> {failed.failure} You can sign again.
        </Notice>
      )}
      <StillThere earlier={view.earlier} />
      <Register mandateId={mandateId} payees={policy.payTo?.allow ?? null} token={view.token} />
    </>
  );
}

/** An earlier version's limits stay valid on the chain until they end or their registration is revoked. */
const StillThere = ({ earlier }: Pick<OnChainView, "earlier">) => {
  const open = earlier.find(({ revocation }) => revocation === "none");
  return open === undefined ? null : (
    <Notice tone="caution">
      Version {open.version} is still registered on the chain with its own limits. Nothing is paid under it here any more;
      registering this version closes it there too.
    </Notice>
  );
};

const Earlier = ({ earlier }: Pick<OnChainView, "earlier">) =>
  earlier.length === 0 ? null : (
    <details>
      <summary>Earlier versions on chain</summary>
      <Pairs
        items={earlier.map((registration) => [
          `Version ${registration.version}`,
          <StatusBadge key={registration.registrationId} of="registration" status={stateOf(registration)} />,
        ])}
      />
    </details>
  );

export function OnChainPanel(props: Props) {
  const { mandate, view } = props;
  const { current, earlier } = view;
  const live = current !== null && current.status !== "failed";
  return (
    <section className="panel" aria-labelledby="onchain">
      <div className="panel-head">
        <h2 id="onchain">On chain</h2>
        <p>
          {live
            ? `Version ${current.version} in the registry on ${networkName(view.chain)}`
            : `Put the hard limits on ${networkName(view.chain)}, and the agent needs no wallet: the service pays from yours, and even a stolen key of the service can pay no more and no other address.`}
        </p>
      </div>
      <div className="panel-body grid grid-cols-1 gap-4">
        {live ? <Registered mandate={mandate} view={view} registration={current} /> : <NotYet {...props} />}
        <Earlier earlier={earlier} />
      </div>
      {(moves(current) || earlier.some(moves)) && <Watch everyMs={WATCH_MS} />}
    </section>
  );
}
