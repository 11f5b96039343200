export type Look = { readonly tone?: "primary" | "quiet" | "danger" | "warn"; readonly size?: "large" | "small" };

export const buttonClass = ({ tone, size }: Look = {}): string =>
  ["btn", tone && `btn-${tone}`, size && `btn-${size}`].filter(Boolean).join(" ");
