import type { ReactNode } from "react";
import { OrganizationFrame, organizationMetadata } from "#app/frame.tsx";

export const generateMetadata = organizationMetadata;

export default function Layout({ children }: { readonly children: ReactNode }) {
  return <OrganizationFrame>{children}</OrganizationFrame>;
}
