"use client";

import { useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { OperationForm, useOperationForm } from "#components/ui/form.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { ResourceProbe } from "#lib/sellers/resource-schema.ts";
import type { ResourceOffer } from "#lib/pages/seller/snippets.ts";

function Findings({ probe: { url, payable, findings } }: { readonly probe: ResourceProbe }) {
  if (payable)
    return (
      <Notice tone="positive">
        <strong>Agents can pay.</strong> <code>{url}</code> answers the 402 that is registered.
      </Notice>
    );
  return (
    <Notice tone="caution">
      <p>
        <strong>Agents cannot pay yet.</strong> <code>{url}</code> does not answer as registered.
      </p>
      <ul className="mt-2 grid gap-2 text-sm">
        {findings.map(({ pointer, message, expected, actual }) => (
          <li key={`${pointer} ${message}`}>
            {message} Registered <code>{expected}</code>, answered{" "}
            <code>
              <Untrusted>{actual === "" ? "nothing" : actual}</Untrusted>
            </code>
            .
          </li>
        ))}
      </ul>
    </Notice>
  );
}

export function Probe({ sellerId, offered }: { readonly sellerId: string; readonly offered: ResourceOffer }) {
  const { resourceId, pathTemplate, method } = offered;
  const [probe, setProbe] = useState<ResourceProbe | null>(null);
  const state = useOperationForm(() => import("#lib/sellers/contract.ts").then((contract) => contract.probeResource), {
    defaults: { sellerId },
    params: { id: resourceId },
    done: (found) => {
      setProbe(found);
      announce(found.payable ? "Agents can pay." : "Agents cannot pay yet.");
    },
    refresh: "never",
  });
  return (
    <OperationForm state={state} nothing="We could not test it." className="grid grid-cols-1 gap-3" aria-labelledby="probe">
      <h2 id="probe">Test request</h2>
      <p className="text-sm text-muted">
        Calls the saved resource without a payment, as an agent does first, and compares the 402. Nothing is paid.
        {method === "POST" && " It posts an empty JSON object."}
      </p>
      {pathTemplate.includes("{") && (
        <Field
          label="Path with its parameters filled in"
          className="mono"
          autoComplete="off"
          spellCheck={false}
          placeholder={pathTemplate}
          {...state.field("path")}
        />
      )}
      <div className="actions">
        <Button type="submit" aria-busy={state.pending}>
          Test it
        </Button>
      </div>
      {probe && !state.pending && state.refusal === null && <Findings probe={probe} />}
    </OperationForm>
  );
}
