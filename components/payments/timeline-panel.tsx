import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Timeline } from "#components/ui/timeline.tsx";
import { Isolated } from "#components/ui/untrusted.tsx";
import type { PaymentStep } from "#lib/pages/buyer/timeline.ts";

/** A payment that is signed to be valid for ever is stored with an end in this year. */
const NO_END = 9999;

const Held = ({ until }: { readonly until: Date }) => (
  <p>
    {until.getUTCFullYear() === NO_END ? (
      "The signed payment has no end: the amount stays held until it is settled or the payer cancels it on the network."
    ) : (
      <>
        The amount stays held until <Moment at={until.toISOString()} show="minute" /> at the latest.
      </>
    )}
  </p>
);

const Told = ({ step: { text, heldUntil, evidence } }: { readonly step: PaymentStep }) => (
  <>
    {text !== undefined && <Isolated>{text}</Isolated>}
    {heldUntil && <Held until={heldUntil} />}
    {evidence.length > 0 && (
      <span className="flex flex-wrap gap-x-4">
        {evidence.map(({ label, value }) => (
          <Copyable key={value} value={value} label={label} />
        ))}
      </span>
    )}
  </>
);

export const TimelinePanel = ({ steps }: { readonly steps: readonly PaymentStep[] }) => (
  <Panel id="happened" title="What happened">
    <div className="panel-body">
      <Timeline
        label="What happened"
        items={steps.map((step) => ({
          title: step.title,
          ...(step.state && { state: step.state }),
          ...(step.at && { at: step.at.toISOString() }),
          ...((step.text !== undefined || step.evidence.length > 0) && { children: <Told step={step} /> }),
        }))}
      />
    </div>
  </Panel>
);
