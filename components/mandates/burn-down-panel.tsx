import { Chart } from "#components/ui/chart.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { money } from "#components/ui/money.tsx";
import { windowWords } from "#lib/mandates/policy/words.ts";
import type { BurnDown } from "#lib/pages/buyer/view-burn-down.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function labelsOf({ steps, timezone: timeZone }: BurnDown) {
  const [first, second] = steps.map(({ at }) => Date.parse(at));
  const stepMs = (second ?? 0) - (first ?? 0);
  const isHourly = stepMs <= HOUR_MS;
  const short = isHourly ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
  const long = isHourly ? { ...short, day: "numeric", month: "long" } : { day: "numeric", month: "long", year: "numeric" };
  const format = (options: object) => new Intl.DateTimeFormat("en-GB", { ...options, timeZone });
  return { rowName: isHourly ? "Hour" : stepMs <= DAY_MS ? "Day" : "Week from", short: format(short), long: format(long) };
}

export function BurnDownPanel({ burnDown }: { readonly burnDown: BurnDown }) {
  const { usage, steps, timezone } = burnDown;
  const { unit, limit, available, end, window } = usage;
  const { rowName, short, long } = labelsOf(burnDown);
  const title = `Left until the reset: ${money(available, unit)} of ${money(limit, unit)} ${windowWords(window)}.`;
  return (
    <section className="panel" aria-labelledby="burn-down">
      <div className="panel-head">
        <h2 id="burn-down">Left until the reset</h2>
        <span className="text-muted text-sm">
          Resets <Moment at={end} show="short" timeZone={timezone} />
        </span>
      </div>
      <div className="panel-body">
        <Chart
          title={title}
          unit={unit}
          rowName={rowName}
          empty="Nothing is left until the reset."
          series={[{ key: "left", name: "Left" }]}
          limit={{ name: `Limit ${windowWords(window)}`, amount: limit }}
          rows={steps.map(({ at, left }) => ({
            label: short.format(new Date(at)),
            name: long.format(new Date(at)),
            amounts: left === null ? {} : { left },
          }))}
        />
      </div>
      <div className="panel-foot">
        <span>Held amounts count as used. Times in {timezone}</span>
      </div>
    </section>
  );
}
