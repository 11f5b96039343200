import { ReadersFirstRequest } from "#app/first-request.tsx";
import { ReadersSample } from "#app/sample.tsx";
import { requireMember } from "#app/session.ts";
import { Checklist } from "#components/start/checklist.tsx";
import { stepViews } from "#components/start/step-words.ts";
import { homeOf } from "#components/shell/navigation.ts";
import { buttonClass } from "#components/ui/button-class.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { viewRefusals } from "#lib/pages/buyer/view-refusals.ts";
import { viewProgress } from "#lib/pages/settings/view-progress.ts";

export const metadata = { title: "Get started" };

export default async function GetStartedPage() {
  const caller = await requireMember("/get-started");
  const session = await viewSession(caller.sessionId);
  const { productRoles } = session;
  const { ids, done } = await viewProgress({ ...caller, productRoles });
  const manage = caller.capabilities.has("mandates:manage");
  const tried = ids.find((id) => id === "payment" || id === "authorization");
  const [refusal] = tried && !done[tried] ? await viewRefusals(caller, { manage }) : [];
  const steps = stepViews(ids, caller.capabilities).map((step) =>
    refusal && step.id === tried ? { ...step, denied: { why: refusal.why, fix: refusal.fix } } : step,
  );
  return (
    <>
      <PageHeader
        title="Get started"
        description="From an empty organization to the first payment. Each step is marked as done automatically."
        actions={
          <a className={buttonClass()} href={homeOf(session)}>
            Go to home
          </a>
        }
      />
      <div className="stack">
        <Checklist steps={steps} done={done} />
        {productRoles.includes("buyer") && <ReadersSample caller={caller} />}
        {productRoles.includes("buyer") && <ReadersFirstRequest caller={caller} />}
      </div>
    </>
  );
}
