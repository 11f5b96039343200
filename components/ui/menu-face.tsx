import { ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";

/** A menu item: a link or an action. */
export type MenuItem = { readonly key: string; readonly content: ReactNode } & (
  | { readonly href: string }
  | { readonly onSelect: () => void }
);

export type MenuProps = {
  /** The purpose of the menu: "Switch organization". The button's accessible name is the current choice followed by this label. */
  readonly label: string;
  /** The current choice, and a line below it. */
  readonly name: string;
  readonly text: string;
  readonly className?: string;
  readonly disabled?: boolean;
  readonly items: readonly MenuItem[];
};

/** The content of a menu's button. */
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
