"use client";

import { Menu as Base } from "@base-ui/react/menu";
import Link from "next/link";
import { useEffect, useRef } from "react";
import { MenuFace, menuLook, type MenuItem, type MenuProps } from "./menu-face.tsx";

function Item({ item }: { readonly item: MenuItem }) {
  const className =
    "flex min-h-11 cursor-pointer items-center justify-between gap-2 rounded-sm px-3 py-1 text-text no-underline outline-none select-none data-highlighted:bg-accent-wash md:min-h-9";
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

/** The menu after its code was loaded. It opens at once, and takes the focus from the button that it replaces. */
export function OpenMenu({ label, name, text, picture, quiet, disabled = false, items }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const asked = useRef(true);
  // The menu is rendered next to its button, so that it belongs to the same landmark.
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!asked.current) return;
    asked.current = false;
    button.current?.focus();
    button.current?.click();
  }, []);
  return (
    <Base.Root>
      <Base.Trigger ref={button} className={menuLook(quiet)} disabled={disabled}>
        <MenuFace label={label} name={name} text={text} picture={picture} />
      </Base.Trigger>
      <span ref={place} className="contents" />
      <Base.Portal container={place}>
        <Base.Positioner className="z-32 outline-none" positionMethod="fixed" align="start" sideOffset={4} collisionPadding={8}>
          <Base.Popup className="max-h-(--available-height) max-w-[min(22rem,calc(100vw-1rem))] min-w-(--anchor-width) overflow-y-auto rounded-md border bg-raised p-1 text-sm shadow-float outline-none transition-opacity duration-(--quick) ease-standard data-ending-style:opacity-0 data-starting-style:opacity-0">
            {items.map((item) => (
              <Item key={item.key} item={item} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
