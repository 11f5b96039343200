"use client";

import { type KeyboardEvent, useState } from "react";
import { useHydrated } from "./hydrated.ts";
import { MenuFace, menuLook, type MenuProps } from "./menu-face.tsx";
import { early, OnDemand } from "./on-demand.tsx";

const loadMenu = () => import("./open-menu.tsx").then(({ OpenMenu }) => OpenMenu);
const fetching = early(loadMenu);

/** If an item opens a dialog, render the dialog next to the menu, not inside it, and control its `open` property yourself. */
export function Menu(props: MenuProps) {
  const { label, name, text, picture, quiet, disabled = false } = props;
  const hydrated = useHydrated();
  const [wanted, setWanted] = useState(false);
  const openByKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    setWanted(true);
  };
  return (
    <OnDemand
      wanted={wanted}
      load={loadMenu}
      giveUp={() => setWanted(false)}
      meanwhile={
        <button
          type="button"
          className={menuLook(quiet)}
          disabled={!hydrated || disabled}
          aria-haspopup="menu"
          aria-expanded={false}
          onClick={() => setWanted(true)}
          onKeyDown={openByKey}
          {...fetching}
        >
          <MenuFace label={label} name={name} text={text} picture={picture} />
        </button>
      }
    >
      {(OpenMenu) => <OpenMenu {...props} />}
    </OnDemand>
  );
}
