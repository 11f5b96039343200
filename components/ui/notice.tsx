import { Check, CircleAlert, Info, type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

const looks = {
  accent: [Info, "bg-accent-wash", "text-accent"],
  positive: [Check, "bg-positive-wash", "text-positive"],
  caution: [TriangleAlert, "bg-caution-wash", "text-caution"],
  danger: [CircleAlert, "bg-danger-wash", "text-danger"],
} as const;

type Props = {
  readonly tone?: keyof typeof looks;
  readonly icon?: LucideIcon;
  readonly role?: "alert" | "status";
  readonly children: ReactNode;
};

export function Notice({ tone = "accent", icon, role, children }: Props) {
  const [usual, wash, ink] = looks[tone];
  const Icon = icon ?? usual;
  return (
    <div
      className={`grid grid-cols-[auto_1fr] gap-3 rounded-sm p-4 text-sm has-[h1]:mb-5 has-[h1]:border has-[h1]:border-caution/30 has-[h1]:p-5 ${wash}`}
      role={role}
    >
      <Icon className={`icon size-5 ${ink}`} aria-hidden />
      <div className="min-w-0 wrap-anywhere [&_strong]:font-620">{children}</div>
    </div>
  );
}
