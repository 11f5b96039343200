"use client";

import { type ComponentProps, useId } from "react";
import { Choice } from "#components/ui/choice.tsx";
import type { Capability } from "#lib/vocabulary.ts";
import { capabilityGroups, capabilityWords, excludedBy, isSame, mayText, presetsOf } from "./capability-words.ts";

type Props = {
  readonly grantable: readonly Capability[];
  readonly chosen: readonly string[];
  readonly choose: (capabilities: Capability[]) => void;
  readonly control: ComponentProps<"input">;
};

/** Ready-made choices; each capability can be chosen in the folded part. */
export function CapabilityGroups(props: Props) {
  const { grantable, chosen, choose } = props;
  const name = useId();
  const presets = presetsOf(grantable);
  const own = !presets.some(({ capabilities }) => isSame(capabilities, chosen));
  const summary = mayText(grantable.filter((one) => chosen.includes(one)));
  return (
    <fieldset>
      <legend className="label mb-2">What it may do</legend>
      {presets.map((preset) => (
        <Choice
          key={preset.name}
          type="radio"
          name={name}
          checked={isSame(preset.capabilities, chosen)}
          onChange={() => choose([...preset.capabilities])}
        >
          <strong>{preset.name}</strong>
          <span>{preset.words}</span>
        </Choice>
      ))}
      <details className="mt-2">
        <summary className="text-sm">{own ? `Chosen one by one: ${summary}` : "Choose one by one"}</summary>
        <Each {...props} />
      </details>
    </fieldset>
  );
}

function Each({ grantable, chosen, control }: Props) {
  const groups = capabilityGroups
    .map(({ name, capabilities }) => ({ name, capabilities: capabilities.filter((one) => grantable.includes(one)) }))
    .filter(({ capabilities }) => capabilities.length > 0);
  return (
    <div className="gap-x-6 pt-3 md:columns-2">
      {groups.map(({ name, capabilities }) => (
        <fieldset key={name} className="break-inside-avoid pb-4">
          <legend className="pb-1 text-sm font-580 text-muted">{name}</legend>
          {capabilities.map((capability) => {
            const excluded = excludedBy(capability, chosen);
            return (
              <Choice key={capability} {...control} type="checkbox" value={capability} disabled={excluded !== null}>
                <strong>{capabilityWords(capability)}</strong>
                <span>
                  {excluded !== null && `${excluded}. `}
                  <code>{capability}</code>
                </span>
              </Choice>
            );
          })}
        </fieldset>
      ))}
    </div>
  );
}
