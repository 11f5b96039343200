import { PauseAgent } from "#components/keys/pause-agent.tsx";
import { ago } from "#components/ui/ago.ts";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { Fold } from "./fold.tsx";

export function Asks({ view, className }: { readonly view: CheckoutView; readonly className: string }) {
  const { agent, organization, requestedAt, now } = view;
  return (
    <Fold
      id="asks"
      title="Who asks"
      note={
        <span className="lg:hidden">
          <AskerName asker={agent} />
        </span>
      }
      className={className}
    >
      <Pairs
        items={[
          [agent.isServiceAccount ? "Agent" : "Person", <AskerName key="asker" asker={agent} />],
          ...(agent.isServiceAccount
            ? [["Service account", <Copyable key="id" value={agent.subjectId} label="service account id" head={7} />] as const]
            : []),
          ["Of", <Untrusted key="of">{organization.name}</Untrusted>],
          ["Requested", ago(requestedAt, now)],
          ...(view.alsoAsked.length === 0
            ? []
            : [
                [
                  "Asked for the same payment",
                  <ul key="also">
                    {view.alsoAsked.map(({ authorizationId, asker }) => (
                      <li key={authorizationId}>
                        <a href={`/payments/${authorizationId}`}>
                          <AskerName asker={asker} />
                        </a>
                        , answered with this request
                      </li>
                    ))}
                  </ul>,
                ] as const,
              ]),
        ]}
      />
      {view.mayDecide && agent.isServiceAccount && agent.active && (
        <div className="mt-4 grid justify-items-start gap-2">
          <PauseAgent serviceAccountId={agent.subjectId} paused={agent.paused} />
          <p className="text-sm text-muted">
            {agent.paused
              ? "It is paused: it can read, and can neither ask nor pay."
              : "Does it ask too much? While it is paused, it can neither ask nor pay, also with your approval."}
          </p>
        </div>
      )}
    </Fold>
  );
}
