import type { ReactNode } from "react";

type Props = {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
  readonly snippet?: ReactNode;
};

export function Empty({ title, children, action, snippet }: Props) {
  return (
    <div className="grid grid-cols-1 justify-items-start gap-4 px-6 py-8">
      <h2 className="text-base">{title}</h2>
      <p className="max-w-[52ch] text-muted">{children}</p>
      {action}
      {snippet !== undefined && <div className="w-full">{snippet}</div>}
    </div>
  );
}
