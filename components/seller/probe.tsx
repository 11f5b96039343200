"use client";

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { mutation } from "#lib/http/query.ts";
import type { ResourceProbe } from "#lib/sellers/resource-schema.ts";
import type { ResourceOffer } from "#lib/pages/seller/snippets.ts";
import { probeResource } from "./calls.ts";

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
  const [path, setPath] = useState("");
  const probe = useMutation({
    ...mutation(probeResource),
    onSuccess: ({ payable }) => announce(payable ? "Agents can pay." : "Agents cannot pay yet."),
  });
  const open = pathTemplate.includes("{");
  const ask = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!probe.isPending) probe.mutate({ id: resourceId, body: { sellerId, ...(open && { path }) } });
  };
  const errors =
    probe.error && "problem" in probe.error ? (probe.error.problem as { errors?: { detail: string }[] }).errors : undefined;
  return (
    <form className="grid grid-cols-1 gap-3" method="post" aria-labelledby="probe" onSubmit={ask}>
      <h2 id="probe">Test request</h2>
      <p className="text-sm text-muted">
        Calls the saved resource without a payment, as an agent does first, and compares the 402. Nothing is paid.
        {method === "POST" && " It posts an empty JSON object."}
      </p>
      {open && (
        <Scripted>
          <Field
            label="Path with its parameters filled in"
            className="mono"
            required
            autoComplete="off"
            spellCheck={false}
            placeholder={pathTemplate}
            value={path}
            onChange={(event) => setPath(event.target.value)}
            error={errors?.[0]?.detail}
          />
        </Scripted>
      )}
      <div className="actions">
        <Button type="submit" aria-busy={probe.isPending}>
          Test it
        </Button>
      </div>
      {probe.error && errors === undefined && <ProblemNotice error={probe.error} nothing="We could not test it." />}
      {probe.data && !probe.isPending && <Findings probe={probe.data} />}
    </form>
  );
}
