"use client";

import { useState } from "react";
import { useWatch } from "react-hook-form";
import { CapabilityGroups } from "#components/keys/capability-groups.tsx";
import { presetsOf } from "#components/keys/capability-words.ts";
import { Choice } from "#components/ui/choice.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Field, Select } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { ConnectView } from "#lib/pages/settings/view-connect.ts";

type Props = { readonly request: string; readonly view: ConnectView };
type State = ReturnType<typeof useConsent>;

const useConsent = ({ request, view }: Props) =>
  useOperationForm(() => import("#lib/identity/oauth/contract.ts").then((contract) => contract.connectAgent), {
    defaults: {
      request,
      organizationId: view.organizationId,
      name: view.clientName,
      capabilities: [...(presetsOf(view.grantable)[0]?.capabilities ?? [])],
    },
    done: ({ redirectTo }) => location.assign(redirectTo),
    refresh: "never",
  });

function Account({ state, view }: { readonly state: State; readonly view: ConnectView }) {
  const { form } = state;
  const [isNew, setNew] = useState(true);
  const choose = (next: boolean) => {
    setNew(next);
    form.setValue("name", next ? view.clientName : undefined);
    form.setValue("serviceAccountId", next ? undefined : view.accounts[0]?.serviceAccountId);
    form.setValue("mandateIds", undefined);
  };
  return (
    <fieldset className="grid gap-3">
      <legend className="label mb-2">Acts as</legend>
      {view.accounts.length > 0 && (
        <div>
          <Choice type="radio" name="account" checked={isNew} onChange={() => choose(true)}>
            <strong>A new service account</strong>
          </Choice>
          <Choice type="radio" name="account" checked={!isNew} onChange={() => choose(false)}>
            <strong>A service account that exists</strong>
            <span>It gets no more than the account has.</span>
          </Choice>
        </div>
      )}
      {isNew ? (
        <>
          <Field
            label="Name of the service account"
            autoComplete="off"
            maxLength={200}
            hint="It is shown on every approval request."
            {...state.field("name")}
          />
          {view.mandates.length > 0 && <Mandates state={state} view={view} />}
        </>
      ) : (
        <Select
          label="Service account"
          options={view.accounts.map(({ serviceAccountId, name }) => [serviceAccountId, name] as const)}
          {...state.field("serviceAccountId")}
        />
      )}
    </fieldset>
  );
}

function Mandates({ state, view: { mandates } }: { readonly state: State; readonly view: ConnectView }) {
  const { form } = state;
  const chosen = useWatch({ control: form.control, name: "mandateIds" });
  const toggle = (id: string, on: boolean) =>
    form.setValue("mandateIds", on ? [...(chosen ?? []), id] : (chosen ?? []).filter((one) => one !== id));
  return (
    <fieldset>
      <legend className="label mb-2">Mandates</legend>
      <Choice type="radio" name="mandates" checked={chosen === undefined} onChange={() => form.setValue("mandateIds", undefined)}>
        <strong>All that are open to every agent</strong>
        <span>Also those that are created later.</span>
      </Choice>
      <Choice type="radio" name="mandates" checked={chosen !== undefined} onChange={() => form.setValue("mandateIds", [])}>
        <strong>Only these</strong>
        <span>It cannot see or use other mandates, even if they are open to every agent.</span>
      </Choice>
      {chosen !== undefined && (
        <div className="pl-8">
          {mandates.map(({ mandateId, name }) => (
            <Choice
              key={mandateId}
              type="checkbox"
              checked={chosen.includes(mandateId)}
              onChange={(event) => toggle(mandateId, event.target.checked)}
            >
              <Untrusted>{name}</Untrusted>
            </Choice>
          ))}
        </div>
      )}
    </fieldset>
  );
}

export function ConsentForm({ request, view }: Props) {
  const state = useConsent({ request, view });
  const chosen = useWatch({ control: state.form.control, name: "capabilities" });
  const { error: _, ...control } = state.field("capabilities");
  return (
    <OperationForm state={state} nothing="Nothing was connected.">
      <Account state={state} view={view} />
      <CapabilityGroups
        grantable={view.grantable}
        chosen={chosen}
        choose={(capabilities) => state.form.setValue("capabilities", capabilities)}
        control={control}
      />
      <div className="actions">
        <Submit state={state} off={chosen.length === 0}>
          Connect
        </Submit>
        <a className={buttonClass({})} href={view.refuseAt}>
          Do not connect
        </a>
      </div>
    </OperationForm>
  );
}
