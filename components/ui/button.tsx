"use client";

import type { ComponentProps } from "react";
import { buttonClass, type Look } from "./button-class.ts";
import { useHydrated } from "./hydrated.ts";

type Props = Look &
  ComponentProps<"button"> & {
    /** For a form that the browser submits without scripts; other buttons wait for the scripts, or earlier clicks are lost. */
    readonly withoutScripts?: boolean;
  };

export function Button({ tone, size, type = "button", className, disabled, withoutScripts = false, ...rest }: Props) {
  const waits = !useHydrated() && !withoutScripts;
  const look = buttonClass({ ...(tone && { tone }), ...(size && { size }) });
  return (
    <button
      {...rest}
      type={type}
      className={className === undefined ? look : `${look} ${className}`}
      disabled={waits || disabled}
      data-waits={(waits && !disabled) || undefined}
    />
  );
}
