import type { ReactNode } from "react";

const part = (text: string, index: number): ReactNode =>
  text.startsWith("`") ? (
    <code key={index}>{text.slice(1, -1)}</code>
  ) : text.startsWith("**") ? (
    <strong key={index}>{text.slice(2, -2)}</strong>
  ) : (
    text
  );

/** Renders the two kinds of markup in the descriptions of the API: `code` and **strong** text. */
export const Prose = ({ text }: { readonly text: string }) => <>{text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map(part)}</>;
