"use client";

import { Menu as Base } from "@base-ui/react/menu";
import Link from "next/link";
import { useEffect, useRef } from "react";
import { MenuFace, type MenuItem, type MenuProps } from "./menu-face.tsx";

function Item({ item }: { readonly item: MenuItem }) {
  const className = "menu-item justify-between";
  if ("onSelect" in item)
    return (
      <Base.Item className={className} onClick={item.onSelect}>
        {item.content}
      </Base.Item>
    );
  return (
    <Base.LinkItem className={className} render={<Link href={item.href} prefetch={false} />}>
      {item.content}
    </Base.LinkItem>
  );
}

/** The loaded menu. It opens on mount, and takes the focus from the button that it replaces. */
export function OpenMenu({ label, name, text, className = "org", disabled = false, items }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const asked = useRef(true);
  // The portal is next to the button, so that the menu is in the same landmark.
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!asked.current) return;
    asked.current = false;
    button.current?.focus();
    button.current?.click();
  }, []);
  return (
    <Base.Root>
      <Base.Trigger ref={button} className={className} disabled={disabled}>
        <MenuFace label={label} name={name} text={text} />
      </Base.Trigger>
      <span ref={place} className="contents" />
      <Base.Portal container={place}>
        <Base.Positioner className="float" positionMethod="fixed" align="start" sideOffset={4} collisionPadding={8}>
          <Base.Popup className="menu-popup min-w-(--anchor-width)">
            {items.map((item) => (
              <Item key={item.key} item={item} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
