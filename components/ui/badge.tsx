import { Check, Clock, ShieldCheck, TriangleAlert, X } from "lucide-react";

const icons = { check: Check, clock: Clock, shield: ShieldCheck, warning: TriangleAlert, cross: X } as const;

type Props = {
  readonly tone?: "positive" | "caution" | "danger" | "accent";
  readonly icon: keyof typeof icons;
  readonly children: string;
};

/** A word and an icon, never colour alone. */
export function Badge({ tone, icon, children }: Props) {
  const Icon = icons[icon];
  return (
    <span className="badge" data-tone={tone}>
      <Icon className="icon" aria-hidden />
      {children}
    </span>
  );
}
