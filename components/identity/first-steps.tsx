import type { StepView } from "#components/start/checklist.tsx";
import { steps } from "#lib/pages/settings/progress.ts";
import { ProductRole } from "#lib/vocabulary.ts";

type Props = {
  readonly email: string;
  /** The steps of the page "Get started", of buyers and sellers. */
  readonly later: readonly Pick<StepView, "id" | "title" | "text">[];
};

/** The roles are chosen in the form beside it, so a step is shown while the box of its role is ticked. */
const shownFor = {
  buyer: "in-[main:has([name=productRoles][value=buyer]:not(:checked))]:hidden",
  seller: "in-[main:has([name=productRoles][value=seller]:not(:checked))]:hidden",
} as const;

export function FirstSteps({ email, later }: Props) {
  return (
    <section className="panel" aria-labelledby="first-steps">
      <div className="panel-head">
        <h2 id="first-steps">First steps</h2>
      </div>
      <ol className="timeline p-5">
        <li data-state="done">
          <h3>Create an account</h3>
          <p className="wrap-anywhere">{email}</p>
        </li>
        <li data-state="now">
          <h3>Create your organization</h3>
          <p>You are here</p>
        </li>
      </ol>
      {ProductRole.options.map((role) => (
        <div key={role} className={`border-t ${shownFor[role]}`}>
          <p className="px-5 pt-4 text-sm text-muted">{role === "buyer" ? "Then, to buy" : "Then, to sell"}</p>
          <ol className="timeline p-5">
            {later
              .filter(({ id }) => steps[id].productRole === role)
              .map(({ id, title, text }) => (
                <li key={id}>
                  <h3>{title}</h3>
                  <p>{text}</p>
                </li>
              ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
