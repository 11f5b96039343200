import { Check, CircleAlert, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

const icons = { accent: Info, positive: Check, caution: TriangleAlert, danger: CircleAlert } as const;

type Props = { readonly tone?: keyof typeof icons; readonly role?: "alert" | "status"; readonly children: ReactNode };

export function Notice({ tone = "accent", role, children }: Props) {
  const Icon = icons[tone];
  return (
    <div className="notice" data-tone={tone} role={role}>
      <Icon className="icon" aria-hidden />
      <div>{children}</div>
    </div>
  );
}
