import { ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";

/** One line of a menu: it leads to a page, or acts. */
export type MenuItem = { readonly key: string; readonly content: ReactNode } & (
  | { readonly href: string }
  | { readonly onSelect: () => void }
);

export type MenuProps = {
  /** What the menu does: "Switch organization". It ends the name of the button, which begins with what is chosen. */
  readonly label: string;
  /** What is chosen, and a line below it. */
  readonly name: string;
  readonly text: string;
  readonly className?: string;
  readonly disabled?: boolean;
  readonly items: readonly MenuItem[];
};

/** What stands in the button of a menu. */
export const MenuFace = ({ label, name, text }: Pick<MenuProps, "label" | "name" | "text">) => (
  <>
    <span className="org-name">
      <strong>{name}</strong>
      <span>{text}</span>
    </span>
    <span className="sr">{label}</span>
    <ChevronsUpDown className="icon" aria-hidden="true" />
  </>
);
