"use client";

import { FailureAlone } from "#components/shell/failure.tsx";
import "./global.css";

export default function GlobalError(props: { readonly error: unknown; readonly retry: () => void }) {
  return (
    <html lang="en">
      <body>
        <title>This page could not be shown · Countersign</title>
        <FailureAlone {...props} />
      </body>
    </html>
  );
}
