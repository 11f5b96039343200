"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { bodyErrors } from "#components/organization/body-errors.ts";
import { ProductRoles } from "#components/organization/product-roles.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { ProblemError } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
import { deriveSlug } from "#lib/identity/members/slug.ts";
import type { ProductRole } from "#lib/vocabulary.ts";
import { completeOnboarding } from "./calls.ts";

const readForm = (form: FormData) => ({
  organizationName: formText(form, "organizationName").trim(),
  ...(formText(form, "organizationSlug").trim() !== "" && { organizationSlug: formText(form, "organizationSlug").trim() }),
  productRoles: form.getAll("productRoles") as ProductRole[],
});

function Names({ host, errors }: { readonly host: string; readonly errors: Readonly<Record<string, string>> }) {
  const [name, setName] = useState("");
  const [slug, setSlug] = useState<string | null>(null);
  return (
    <>
      <Field
        label="Name"
        name="organizationName"
        autoComplete="organization"
        required
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint="Sellers see this name on receipts."
        error={errors["organizationName"]}
      />
      <Field
        label="Short name"
        name="organizationSlug"
        prefix={`${host}/`}
        autoComplete="off"
        spellCheck={false}
        maxLength={48}
        value={slug ?? (name.trim() === "" ? "" : deriveSlug(name))}
        onChange={(event) => setSlug(event.target.value)}
        hint="Lower case letters, digits and hyphens."
        error={errors["organizationSlug"]}
      />
    </>
  );
}

export function OnboardingForm({ host, returnTo }: { readonly host: string; readonly returnTo: string }) {
  const onboarding = useMutation({ ...mutation(completeOnboarding), onSuccess: () => location.assign(returnTo) });
  const [roleError, setRoleError] = useState<string>();
  const errors = bodyErrors(onboarding.error);
  return (
    <form
      className="panel"
      method="post"
      aria-label="Organization"
      onSubmit={(event) => {
        event.preventDefault();
        const body = readForm(new FormData(event.currentTarget));
        setRoleError(body.productRoles.length === 0 ? "Choose at least one." : undefined);
        if (body.productRoles.length > 0) onboarding.mutate({ body });
      }}
    >
      <div className="grid gap-6 p-4 md:p-6">
        {onboarding.error && Object.keys(errors).length === 0 && (
          <Notice tone="danger" role="alert">
            <p>
              {onboarding.error instanceof ProblemError ? onboarding.error.message : "We could not reach the service. Try again."}
            </p>
          </Notice>
        )}
        <Scripted>
          <Names host={host} errors={errors} />
          <ProductRoles
            chosen={["buyer"]}
            hint="Choose one or both. You can change it later."
            error={roleError ?? errors["productRoles"]}
          />
        </Scripted>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-3 border-t p-4 md:px-6">
        <span />
        <Button
          className="max-md:w-full"
          tone="primary"
          size="large"
          type="submit"
          disabled={onboarding.isPending || onboarding.isSuccess}
        >
          Create organization
        </Button>
      </div>
    </form>
  );
}
