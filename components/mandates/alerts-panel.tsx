"use client";

import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { Panel } from "#components/ui/panel.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { setMandateAlerts } from "./calls.ts";

const OFFERED = [50, 75, 80, 90, 100];
const MOST = 5;

type Props = { readonly mandateId: string; readonly thresholds: readonly number[]; readonly manage: boolean };

const listed = (thresholds: readonly number[]): string => thresholds.map((one) => `${one}%`).join(", ");

export function AlertsPanel({ mandateId, thresholds, manage }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set(thresholds));
  const { send, busy, error } = useOperation(setMandateAlerts, { done: "Alerts saved" });
  const offered = [...new Set([...OFFERED, ...thresholds])].toSorted((a, b) => a - b);
  const choose = (one: number, on: boolean) =>
    setChosen((now) => new Set(on ? [...now, one] : [...now].filter((other) => other !== one)));
  const save = () => send({ id: mandateId, body: { thresholds: [...chosen] } });
  return (
    <Panel id="alerts" title="Alerts">
      <div className="panel-body grid gap-4">
        <p className="text-sm text-muted">
          {thresholds.length === 0
            ? "Nobody is told before a budget is used up."
            : `Everyone who may approve is told at ${listed(thresholds)} of each limit, once per period.`}
        </p>
        {manage && (
          <>
            <fieldset className="flex flex-wrap gap-x-5 gap-y-2 text-sm">
              <legend className="sr">Percent of each limit</legend>
              {offered.map((one) => (
                <label key={one} className="flex cursor-pointer items-center gap-2">
                  <input
                    type="checkbox"
                    checked={chosen.has(one)}
                    disabled={!chosen.has(one) && chosen.size >= MOST}
                    onChange={({ target }) => choose(one, target.checked)}
                  />
                  {one}%
                </label>
              ))}
            </fieldset>
            <div className="actions">
              <Button size="small" aria-busy={busy} onClick={save}>
                Save alerts
              </Button>
            </div>
            <ProblemNotice error={error} nothing="Nothing was saved." />
          </>
        )}
      </div>
    </Panel>
  );
}
