import { ReadersFirstRequest } from "#app/first-request.tsx";
import { requireMember } from "#app/session.ts";
import { Checklist } from "#components/start/checklist.tsx";
import { stepViews } from "#components/start/step-words.ts";
import { homeOf } from "#components/shell/navigation.ts";
import { buttonClass } from "#components/ui/button-class.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { viewProgress } from "#lib/pages/view-progress.ts";

export const metadata = { title: "Get started" };

export default async function GetStartedPage() {
  const caller = await requireMember("/get-started");
  const session = await viewSession(caller.sessionId);
  const { productRoles } = session;
  const { ids, done } = await viewProgress({ ...caller, productRoles });
  return (
    <>
      <PageHeader
        title="Get started"
        description="From an empty organization to the first decision. Each step ticks itself."
        actions={
          <a className={buttonClass()} href={homeOf(session)}>
            Go to home
          </a>
        }
      />
      <div className="stack">
        <Checklist steps={stepViews(ids, caller.capabilities)} done={done} />
        {productRoles.includes("buyer") && <ReadersFirstRequest caller={caller} />}
      </div>
    </>
  );
}
