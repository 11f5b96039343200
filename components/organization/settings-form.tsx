"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { toast } from "#components/ui/toast.tsx";
import { mutation } from "#lib/http/query.ts";
import type { ProductRole } from "#lib/vocabulary.ts";
import { updateOrganization } from "./calls.ts";
import { bodyErrors } from "./body-errors.ts";
import { ProductRoles } from "./product-roles.tsx";

type Props = {
  readonly organizationId: string;
  readonly name: string;
  readonly productRoles: readonly ProductRole[];
  readonly timezone: string | null;
  readonly zones: readonly string[];
};

const readForm = (form: FormData) => ({
  name: formText(form, "name").trim(),
  productRoles: form.getAll("productRoles") as ProductRole[],
  timezone: formText(form, "timezone") === "" ? null : formText(form, "timezone"),
});

export function SettingsForm({ organizationId, name, productRoles, timezone, zones }: Props) {
  const router = useRouter();
  const [roleError, setRoleError] = useState<string>();
  const save = useMutation({
    ...mutation(updateOrganization),
    onSuccess: () => {
      toast("Saved");
      router.refresh();
    },
  });
  const errors = bodyErrors(save.error);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (save.isPending) return;
    const body = readForm(new FormData(event.currentTarget));
    setRoleError(body.productRoles.length === 0 ? "Choose at least one." : undefined);
    if (body.productRoles.length > 0) save.mutate({ organizationId, body });
  };
  return (
    <form className="grid gap-6" method="post" onSubmit={submit} aria-label="Organization">
      {save.error && Object.keys(errors).length === 0 && <ProblemNotice error={save.error} nothing="Nothing was changed." />}
      <Scripted>
        <Field
          label="Name"
          name="name"
          autoComplete="organization"
          required
          maxLength={200}
          defaultValue={name}
          hint="Sellers see this name on receipts."
          error={errors["name"]}
        />
        <ProductRoles
          chosen={productRoles}
          hint="Chooses the pages that members see. Mandates, keys and paid resources stay as they are."
          error={roleError ?? errors["productRoles"]}
        />
        <Select
          label="Time zone of new mandates"
          name="timezone"
          defaultValue={timezone ?? ""}
          options={[["", "The author’s time zone"], ...zones.map((zone) => [zone, zone] as const)]}
          error={errors["timezone"]}
        />
      </Scripted>
      <div>
        <Button tone="primary" type="submit" aria-busy={save.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
