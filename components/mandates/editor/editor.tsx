"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { FormProvider, type Path } from "react-hook-form";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Submit, useCheckedForm } from "#components/ui/form.tsx";
import { useLeaveGuard } from "#components/ui/leave-guard.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { call } from "#lib/http/client.ts";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import { createBody, fieldErrors, updateBody } from "#lib/mandates/draft/draft-request.ts";
import { draftOf, newDraft, type MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { createMandate, updateMandate } from "../calls.ts";
import { Ask } from "./ask.tsx";
import { loadCheck, resolverOf } from "./draft-form.ts";
import { type Update, OpenRefusedDialog } from "./open-refused.tsx";
import { Limits } from "./limits.tsx";
import { LiveWords } from "./live-words.tsx";
import { PaysIn } from "./pays-in.tsx";
import { Rails } from "./rails.tsx";
import { Trial } from "./trial.tsx";
import { When } from "./when.tsx";
import { Where } from "./where.tsx";
import { Who } from "./who.tsx";

type Props = {
  /** Omitted for a new mandate. */
  readonly mandate?: Mandate;
  readonly choices: EditorChoices;
  /** The first values of the form. If absent, the values of the mandate, or the defaults of a new mandate. */
  readonly start?: MandateDraft;
  readonly focus?: string | undefined;
};

function firstDraft({ mandate, choices: { agents, coins }, start }: Props): MandateDraft {
  const [coin] = coins;
  if (mandate === undefined) return start ?? newDraft(`${coin?.asset} ${coin?.chain}`);
  const draft = start ?? draftOf(mandate);
  // Leave out service accounts that the form does not offer, such as revoked ones, which the service would refuse.
  return { ...draft, agents: draft.agents.filter((id) => agents.some((agent) => agent.id === id)) };
}

const send = (mandate: Mandate | undefined, draft: MandateDraft): Promise<Update> => {
  const { terms } = draftTermsOf(draft);
  return mandate === undefined
    ? call(createMandate, { body: createBody(terms) })
    : call(updateMandate, { id: mandate.mandateId, body: updateBody(terms) });
};

function useEditor(props: Props) {
  const { mandate, choices, focus } = props;
  const router = useRouter();
  const [first] = useState(() => firstDraft(props));
  const [asked, setAsked] = useState<Update | null>(null);
  const leave = (mandateId: string) => {
    router.push(`/mandates/${mandateId}`);
    router.refresh();
  };
  const state = useCheckedForm<MandateDraft, Update>({
    defaults: first,
    load: loadCheck,
    resolver: resolverOf(choices.coins),
    act: (draft) => send(mandate, draft),
    done: (saved) => {
      announce(mandate === undefined ? "Saved as a draft" : `Saved as version ${saved.version}`);
      if (saved.openRefused) setAsked(saved);
      else leave(saved.mandateId);
    },
    fieldsOf: (errors, draft) => fieldErrors(errors, draftTermsOf(draft).fieldOf),
    refresh: "never",
    once: true,
  });
  const { form } = state;
  useEffect(() => {
    // The organization's time zone, or else the person's, which only the browser knows.
    const timeZone = choices.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (mandate !== undefined || !choices.zones.includes(timeZone)) return;
    for (const field of ["timezone", "schedule.timezone"] as const) form.resetField(field, { defaultValue: timeZone });
  }, [form, mandate, choices.zones, choices.timezone]);
  useEffect(() => {
    if (focus !== undefined) form.setFocus(focus as Path<MandateDraft>);
  }, [form, focus]);
  useLeaveGuard(form.formState.isDirty && !state.pending);
  return { state, first, asked, leave };
}

export function MandateEditor(props: Props) {
  const { mandate, choices } = props;
  const { state, first, asked, leave } = useEditor(props);
  const { form } = state;
  const error = state.error ?? state.refusal;
  // The service's runtime may list a stored time zone under another name, so the stored names are offered too.
  const stored = [first.timezone, first.schedule.timezone, ...first.more.map(({ timezone }) => timezone)];
  const zones = [...new Set([...choices.zones, ...stored])];
  const finer = [first.sellers, first.payTo].some(({ only, deny }) => only || deny.length > 0) || first.resources.only;
  return (
    <FormProvider {...form}>
      <div className="grid grid-cols-1 items-start gap-8 lg:grid-cols-[minmax(0,1.42fr)_minmax(0,1fr)]">
        <form className="panel" aria-label="Mandate" method="post" noValidate onSubmit={state.submit} {...state.early}>
          <Scripted>
            <Who agents={choices.agents} wallet={first.wallet !== ""} />
            <PaysIn coins={choices.coins} isFixed={mandate !== undefined} />
            <Rails />
            <Limits zones={zones} more={first.more.length > 0 || first.cooldownSeconds !== ""} />
            <Ask assured={first.assurance !== "softwareApproved"} />
            <Where finer={finer || first.domains.deny.length > 0 || first.fee.as !== "none"} />
            <When zones={zones} valid={first.validFrom !== "" || first.validUntil !== ""} />
          </Scripted>
          {error && (
            <div className="px-4 py-5 md:p-6">
              <ProblemNotice error={error} nothing="Nothing was saved." />
            </div>
          )}
          <div className="panel-foot justify-end p-4 md:px-6">
            <div className="actions max-md:w-full max-md:*:flex-1 max-md:*:px-2">
              <Button onClick={() => form.reset()}>Discard changes</Button>
              <Submit state={state}>{mandate === undefined ? "Save draft" : `Save as version ${mandate.version + 1}`}</Submit>
            </div>
          </div>
        </form>
        {asked?.openRefused && (
          <OpenRefusedDialog mandate={asked} refused={asked.openRefused} onDone={() => leave(asked.mandateId)} />
        )}
        <div className="grid grid-cols-1 gap-6 lg:sticky lg:top-6">
          <LiveWords names={Object.fromEntries(choices.agents.map(({ id, name }) => [id, name]))} />
          {mandate && <Trial mandateId={mandate.mandateId} />}
        </div>
      </div>
    </FormProvider>
  );
}
