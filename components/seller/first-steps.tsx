import Link from "next/link";
import { buttonClass } from "#components/ui/button-class.ts";

type Props = { readonly registered: boolean; readonly verified: boolean; readonly payable: boolean; readonly mayManage: boolean };

type Step = {
  readonly name: string;
  readonly text: string;
  readonly done: boolean;
  readonly action: string;
  readonly href: string;
};

const stepsOf = ({ registered, verified, payable }: Props): readonly Step[] => [
  {
    name: "Register your seller",
    text: "The name and the domain under which buyers know you.",
    done: registered,
    action: "Register seller",
    href: "/seller/settings",
  },
  {
    name: "Prove the domain",
    text: "Buyers who pay verified sellers only can pay you then.",
    done: verified,
    action: "Verify domain",
    href: "/seller/settings",
  },
  {
    name: "Put a price on a resource",
    text: "A path of your API, what a call costs, and the address that is paid.",
    done: payable,
    action: "New resource",
    href: "/seller/resources/new",
  },
  {
    name: "Answer with a 402",
    text: "The page of each resource has the code for your server, and asks it as an agent does.",
    done: false,
    action: "Open resources",
    href: "/seller/resources",
  },
];

export function FirstSteps(props: Props) {
  const steps = stepsOf(props);
  const next = steps.find(({ done }) => !done);
  return (
    <section className="panel" aria-labelledby="first-steps">
      <div className="panel-head">
        <h2 id="first-steps">Get your first payment</h2>
        {!props.mayManage && <span className="text-muted text-sm">An owner, admin or developer does this.</span>}
      </div>
      <ol className="grid divide-y [counter-reset:step]">
        {steps.map((step) => (
          <li
            key={step.name}
            className="grid grid-cols-[1.75rem_minmax(0,1fr)] items-center gap-x-3 gap-y-1 p-4 [counter-increment:step] before:grid before:size-7 before:place-items-center before:rounded-full before:border before:border-border-strong before:text-sm before:font-580 before:content-[counter(step)] data-done:before:border-positive data-done:before:text-positive data-done:before:content-['✓'] md:grid-cols-[1.75rem_minmax(0,1fr)_auto] md:px-5"
            {...(step.done && { "data-done": "" })}
          >
            <div>
              <h3>
                {step.name}
                {step.done && <span className="sr">, done</span>}
              </h3>
              <p className="text-sm text-muted">{step.text}</p>
            </div>
            {props.mayManage && step === next && (
              <Link className={`${buttonClass({ tone: "primary" })} max-md:col-start-2`} href={step.href}>
                {step.action}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
