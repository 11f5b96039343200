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

const tones = {
  positive: "bg-positive-wash text-positive",
  caution: "bg-caution-wash text-caution",
  danger: "bg-danger-wash text-danger",
  accent: "bg-accent-wash text-accent",
} as const;

export type BadgeLook = {
  readonly tone?: keyof typeof tones;
  readonly icon: keyof typeof icons;
};

export const badgeClass = (tone?: keyof typeof tones): string =>
  `inline-flex min-h-5.5 items-center gap-1.25 rounded-xs px-1.75 text-[0.8125rem]/5 font-550 tracking-normal whitespace-nowrap ${
    tone ? tones[tone] : "bg-sunken text-muted inset-ring inset-ring-border"
  }`;

export function Badge({ tone, icon, children }: BadgeLook & { readonly children: string }) {
  const Icon = icons[icon];
  return (
    <span className={badgeClass(tone)}>
      <Icon className="icon size-3.5 stroke-[1.75]" aria-hidden />
      {children}
    </span>
  );
}
