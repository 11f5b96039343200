import { Panel } from "#components/ui/panel.tsx";
import { defaultStepUpLimits } from "#lib/identity/step-up-limits.ts";
import type { OwnStepUpLimits } from "#lib/identity/members/organization-store.ts";
import { StepUpThreshold } from "./step-up-threshold.tsx";

type Props = { readonly organizationId: string; readonly limits: OwnStepUpLimits; readonly mayChange: boolean };

export const StepUpPanel = ({ organizationId, limits, mayChange }: Props) => (
  <Panel
    id="approving"
    title="Who approves proves who they are"
    aside={mayChange && <StepUpThreshold organizationId={organizationId} limits={limits} />}
  >
    <div className="panel-body">
      <p>
        An approver confirms with the password or a passkey above {limits.above ?? defaultStepUpLimits.above}, and above{" "}
        {limits.aboveUnverified ?? defaultStepUpLimits.aboveUnverified} for a payee that is not verified, in the asset of the
        payment. What they let through in the last 24 hours counts: approvals, payments allowed once, and mandates that they put
        in force or widened. The first payment to a seller and a session older than 15 minutes always ask.
      </p>
    </div>
  </Panel>
);
