import type { ComponentProps } from "react";

/** A checkbox or a radio button, with what it stands for beside it. All of it can be clicked. */
export function Choice({ children, className = "", ...input }: ComponentProps<"input">) {
  return (
    <label className={`check ${className}`}>
      <input {...input} />
      <span className="text">{children}</span>
    </label>
  );
}
