import type { ReactNode } from "react";
import { Notice } from "#components/ui/notice.tsx";
import { refusalText } from "./auth-request.ts";

type Props = { readonly error: Error | null; readonly children?: ReactNode };

export const Refusal = ({ error, children }: Props) =>
  error && (
    <Notice tone="danger" role="alert">
      <p>{children ?? refusalText(error)}</p>
    </Notice>
  );
