import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { MandateEvent } from "#lib/pages/buyer/view-mandate.ts";
import { PlainWords } from "./sentences.tsx";
import { wordsOf } from "./words-of.ts";

const titles: Readonly<Record<string, string>> = {
  "mandate.created": "Drafted",
  "mandate.versioned": "Changed",
  "mandate.activated": "Activated",
  "mandate.suspended": "Paused",
  "mandate.resumed": "Resumed",
  "mandate.revoked": "Revoked",
  "mandate.alertsUpdated": "Alerts changed",
  "onchain.mandateRevoked": "Revoked on chain",
  "onchain.mandateRegistrationSubmitted": "Registration sent to the chain",
  "onchain.mandateRegistrationConfirmed": "Registered on chain",
  "onchain.mandateRegistrationFailed": "Registration failed on chain",
};

const titleOf = ({ type, version }: MandateEvent): string =>
  type === "mandate.versioned" ? `Changed to version ${version}` : (titles[type] ?? type);

const stateOf = ({ type }: MandateEvent) =>
  type === "mandate.suspended" || type === "mandate.revoked" ? ("stopped" as const) : ("done" as const);

type Props = { readonly events: readonly MandateEvent[]; readonly names: Readonly<Record<string, string>> };

export const History = ({ events, names }: Props) => (
  <ol className="timeline" aria-label="History">
    {events.map((event) => (
      <li key={`${event.type} ${event.at}`} data-state={stateOf(event)}>
        <h3>
          <span>{titleOf(event)}</span>
          <Moment at={event.at} show="short" />
        </h3>
        <p>
          by <Untrusted>{event.by}</Untrusted>
        </p>
        {event.reason !== null && (
          <p className="mt-1 border-l-2 border-border-strong pl-3 wrap-anywhere text-muted">
            <Untrusted>{event.reason}</Untrusted>
          </p>
        )}
        {event.policy && (
          <details>
            <summary>What version {event.version} says</summary>
            <PlainWords small summary={wordsOf(event.policy, {}, names)} />
          </details>
        )}
      </li>
    ))}
  </ol>
);
