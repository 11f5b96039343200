import type { ComponentProps } from "react";

/** A checkbox or radio button with its label. The whole label can be clicked. */
export function Choice({ children, className = "", ...input }: ComponentProps<"input">) {
  return (
    <label className={`check ${className}`}>
      <input {...input} />
      <span className="text">{children}</span>
    </label>
  );
}
