import { Badge, type BadgeLook } from "#components/ui/badge.tsx";
import { checkedSteps, type Step } from "#lib/receipts/refusal.ts";
import type { Verdict } from "#lib/receipts/verify-receipt.ts";

const titles = {
  receipt: ["Receipt", "A published key signed the receipt, and it was not changed."],
  leaf: ["Leaf", "The event is the one whose hash the receipt states."],
  event: ["Event", "The event says the same as the receipt."],
  inclusion: ["Inclusion", "The path leads from the event to a root of the organization's log."],
  log: ["Log", "The service recorded this root in its log of signed heads."],
  head: ["Head", "A published key signed the head of that log."],
} as const satisfies Record<Step, readonly [title: string, meaning: string]>;

type State = "done" | "failed" | "skipped";

const looks = {
  done: { tone: "positive", icon: "check", word: "Done" },
  failed: { tone: "danger", icon: "cross", word: "Failed" },
  skipped: { icon: "clock", word: "Not reached" },
} as const satisfies Record<State, BadgeLook & { readonly word: string }>;

function stateOf(step: Step, verdict: Verdict): State {
  if (verdict.ok) return verdict.withProof || step === "receipt" ? "done" : "skipped";
  const distance = checkedSteps.indexOf(step) - checkedSteps.indexOf(verdict.step);
  return distance === 0 ? "failed" : distance < 0 ? "done" : "skipped";
}

export const StepList = ({ verdict }: { readonly verdict: Verdict }) => (
  <ol aria-label="Steps" className="grid gap-3">
    {checkedSteps.map((step) => {
      const { word, ...look } = looks[stateOf(step, verdict)];
      const [title, meaning] = titles[step];
      return (
        <li key={step} className="grid grid-cols-[7rem_minmax(0,1fr)] items-start gap-3 text-sm">
          <span>
            <Badge {...look}>{word}</Badge>
          </span>
          <span>
            <strong className="font-semibold">{title}:</strong> {meaning}
          </span>
        </li>
      );
    })}
  </ol>
);
