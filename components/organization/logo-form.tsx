"use client";

import { type ChangeEvent, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
import { updateOrganization } from "./calls.ts";
import { shrinkPicture } from "./shrink-picture.ts";

export function LogoForm({ organizationId, logo }: { readonly organizationId: string; readonly logo: string | null }) {
  const hydrated = useHydrated();
  const input = useRef<HTMLInputElement>(null);
  const save = async (file: File | null) => {
    try {
      return await call(updateOrganization, { organizationId, body: { logo: file && (await shrinkPicture(file)) } });
    } finally {
      if (input.current) input.current.value = "";
    }
  };
  const { send, busy, error } = useOperation(save, { done: (_, file) => (file ? "Logo saved" : "Logo removed") });
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) send(file);
  };
  return (
    <div className="grid gap-3">
      <ProblemNotice error={error} nothing="The logo was not changed. Choose a PNG, JPEG or WebP picture." />
      <div className="flex flex-wrap items-center gap-4">
        {logo !== null && (
          // oxlint-disable-next-line nextjs/no-img-element -- The image optimizer of Next.js saves nothing: a logo has at most 128 pixels.
          <img className="size-16 rounded-sm border bg-raised object-contain" src={logo} alt="Logo" width={64} height={64} />
        )}
        <Field
          ref={input}
          label={logo === null ? "Add a logo" : "Replace the logo"}
          type="file"
          accept="image/png,image/jpeg,image/webp"
          disabled={!hydrated}
          onChange={choose}
        />
        {logo !== null && (
          <Button size="small" aria-busy={busy} onClick={() => send(null)}>
            Remove
          </Button>
        )}
      </div>
      <p className="hint">
        Members see the logo beside the name. Your browser reduces the picture to 128 pixels before it uploads it.
      </p>
    </div>
  );
}
