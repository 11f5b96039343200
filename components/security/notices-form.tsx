"use client";

import { useState } from "react";
import { Choice } from "#components/ui/choice.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import type { NoticeSettings } from "#lib/notices/contract.ts";

type Props = { readonly settings: NoticeSettings; readonly zones: readonly string[] };

function night(zones: readonly string[]) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { from: "22:00", to: "07:00", timezone: zones.includes(timeZone) ? timeZone : "UTC" };
}

export function NoticesForm({ settings: { mail, quietHours }, zones }: Props) {
  const [quiet, setQuiet] = useState(quietHours !== null);
  const state = useOperationForm(() => import("#lib/notices/contract.ts").then((contract) => contract.setNotices), {
    defaults: { mail, quietHours },
    done: (saved) =>
      saved.mail === mail ? "Saved" : saved.mail ? "You get mail about requests" : "You get no mail about requests",
  });
  const choose = (checked: boolean) => {
    setQuiet(checked);
    state.form.setValue("quietHours", checked ? night(zones) : null);
  };
  return (
    <OperationForm state={state} nothing="Nothing was changed." className="grid max-w-[60ch] gap-5">
      <Choice type="checkbox" {...state.form.register("mail")}>
        <strong>Mail about requests</strong>
        <span>When a payment waits for your approval, and two reminders before it expires.</span>
      </Choice>
      <Choice type="checkbox" checked={quiet} onChange={({ target }) => choose(target.checked)}>
        <strong>Quiet hours</strong>
        <span>No message goes to your devices in this time. Mail is sent at any hour.</span>
      </Choice>
      {quiet && (
        <div className="grid gap-4 pl-8 sm:grid-cols-[9rem_9rem_1fr]">
          <Field label="From" type="time" {...state.field("quietHours.from")} />
          <Field label="To" type="time" {...state.field("quietHours.to")} />
          <Select label="Time zone" options={zones.map((zone) => [zone, zone])} {...state.field("quietHours.timezone")} />
        </div>
      )}
      <div className="actions">
        <Submit state={state}>Save</Submit>
      </div>
    </OperationForm>
  );
}
