import type { ComponentProps } from "react";

export function Choice({ children, className = "", ...input }: ComponentProps<"input">) {
  return (
    <label className={`grid cursor-pointer grid-cols-[1.25rem_1fr] items-start gap-x-3 py-1 text-sm ${className}`}>
      <input {...input} />
      <span className="block min-w-0 [&_strong]:block [&_strong]:font-560 [&>span]:block [&>span]:text-muted">{children}</span>
    </label>
  );
}
