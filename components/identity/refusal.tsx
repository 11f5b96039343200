import type { ReactNode } from "react";
import { Notice } from "#components/ui/notice.tsx";
import { refusalText } from "./auth-request.ts";

export const Refusal = ({ error, children }: { readonly error: Error | null; readonly children?: ReactNode }) =>
  error && (
    <Notice tone="danger" role="alert">
      <p>{children ?? refusalText(error)}</p>
    </Notice>
  );
