import type { ComponentProps } from "react";

type Look = { readonly tone?: "primary" | "quiet" | "danger" | "warn"; readonly size?: "large" | "small" };

/** The class names of a button, for links that look like one. */
export const buttonClass = ({ tone, size }: Look = {}): string =>
  ["btn", tone && `btn-${tone}`, size && `btn-${size}`].filter(Boolean).join(" ");

export function Button({ tone, size, type = "button", className, ...rest }: Look & ComponentProps<"button">) {
  const look = buttonClass({ ...(tone && { tone }), ...(size && { size }) });
  return <button {...rest} type={type} className={className === undefined ? look : `${look} ${className}`} />;
}
