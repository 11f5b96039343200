"use client";

import type { ComponentProps } from "react";
import { Choice } from "#components/ui/choice.tsx";
import type { Capability } from "#lib/vocabulary.ts";
import { capabilityGroups, capabilityWords, excludedBy } from "./capability-words.ts";

type Props = {
  readonly grantable: readonly Capability[];
  readonly chosen: readonly string[];
  readonly control: ComponentProps<"input">;
};

export function CapabilityGroups({ grantable, chosen, control }: Props) {
  const groups = capabilityGroups
    .map(({ name, capabilities }) => ({ name, capabilities: capabilities.filter((one) => grantable.includes(one)) }))
    .filter(({ capabilities }) => capabilities.length > 0);
  return (
    <fieldset>
      <legend className="label mb-2">Capabilities</legend>
      <div className="gap-x-6 md:columns-2">
        {groups.map(({ name, capabilities }) => (
          <fieldset key={name} className="break-inside-avoid pb-4">
            <legend className="pb-1 text-sm font-580 text-muted">{name}</legend>
            {capabilities.map((capability) => {
              const excluded = excludedBy(capability, chosen);
              return (
                <Choice key={capability} {...control} type="checkbox" value={capability} disabled={excluded !== null}>
                  <strong className="mono">{capability}</strong>
                  <span>{excluded ?? capabilityWords(capability)}</span>
                </Choice>
              );
            })}
          </fieldset>
        ))}
      </div>
    </fieldset>
  );
}
