import type { ReactNode } from "react";
import { OrganizationFrame } from "#app/frame.tsx";

export default function Layout({ children }: { readonly children: ReactNode }) {
  return <OrganizationFrame>{children}</OrganizationFrame>;
}
