import type { ReactNode } from "react";
import { PlatformFrame } from "#app/frame.tsx";

export default function Layout({ children }: { readonly children: ReactNode }) {
  return <PlatformFrame>{children}</PlatformFrame>;
}
