import { ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";

export type MenuItem = { readonly key: string; readonly content: ReactNode } & (
  | { readonly href: string }
  | { readonly onSelect: () => void }
);

export type MenuProps = {
  /** What the menu is for: "Switch organization". */
  readonly label: string;
  readonly name: string;
  readonly text: string;
  readonly picture?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly disabled?: boolean;
  readonly items: readonly MenuItem[];
};

export const menuLook = (quiet = false): string =>
  `flex min-h-11 w-full cursor-pointer items-center justify-between gap-2 rounded-sm border px-3 py-1 text-left text-sm ${
    quiet
      ? "border-transparent enabled:hover:border-border data-popup-open:border-border"
      : "enabled:hover:border-border-strong data-popup-open:border-border-strong"
  }`;

export const Named = ({ name, text }: Pick<MenuProps, "name" | "text">) => (
  <span className="min-w-0">
    <strong className="line-clamp-2 leading-5 font-semibold wrap-anywhere">{name}</strong>
    <span className="block text-xs wrap-anywhere text-muted">{text}</span>
  </span>
);

export const MenuFace = ({ label, name, text, picture }: Pick<MenuProps, "label" | "name" | "text" | "picture">) => (
  <>
    <span className="flex min-w-0 items-center gap-2">
      {picture !== undefined && (
        // oxlint-disable-next-line nextjs/no-img-element -- A logo is at most 128 pixels wide, so an optimizer saves nothing.
        <img className="size-8 flex-none object-contain" src={picture} alt="" width={32} height={32} />
      )}
      <Named name={name} text={text} />
    </span>
    <span className="sr">{label}</span>
    <ChevronsUpDown className="icon" aria-hidden="true" />
  </>
);
