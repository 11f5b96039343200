import { Check, CircleAlert, Clock, Info, Pause, ShieldCheck, TriangleAlert, X } from "lucide-react";

const icons = {
  check: Check,
  clock: Clock,
  shield: ShieldCheck,
  warning: TriangleAlert,
  cross: X,
  pause: Pause,
  info: Info,
  stop: CircleAlert,
} as const;

export type BadgeLook = {
  readonly tone?: "positive" | "caution" | "danger" | "accent";
  readonly icon: keyof typeof icons;
};

/** A word with an icon, because colour alone must not carry meaning. */
export function Badge({ tone, icon, children }: BadgeLook & { readonly children: string }) {
  const Icon = icons[icon];
  return (
    <span className="badge" data-tone={tone}>
      <Icon className="icon" aria-hidden />
      {children}
    </span>
  );
}
