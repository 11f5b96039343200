import { Copyable } from "#components/ui/copyable.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Timeline } from "#components/ui/timeline.tsx";
import { Isolated } from "#components/ui/untrusted.tsx";
import type { PaymentStep } from "#lib/pages/timeline.ts";

const Told = ({ step: { text, evidence } }: { readonly step: PaymentStep }) => (
  <>
    {text !== undefined && <Isolated>{text}</Isolated>}
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
