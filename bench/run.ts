/**
 * `npm run bench`: measures the production server and its baselines.
 * `-- --json` prints JSON. `-- --seconds N` sets the length of each measurement. `-- --rounds N` sets the number of rounds of a
 * comparison, whose sides are measured alternately.
 * `-- --against COMMIT` compares the working tree with a commit.
 * `-- --facilitators` compares verify and settle with the facilitator of the x402 library.
 * `-- --streams` measures only the cost of open event streams.
 * `-- --webhooks` measures the deliveries of webhooks and how a backlog of deliveries drains.
 * `-- --cards` measures how long a card waits for its decision beside authorizing.
 * `-- --soak MINUTES` sends 50 requests a second for so long and prints the memory of the server each minute.
 * `-- --pages` prints the size of the scripts and the layout shift of every page.
 */
import { parseArgs } from "node:util";
import { compareWith } from "./against.ts";
import { measureCards } from "./cards.ts";
import { measureEveryPage } from "./every-page.ts";
import { compareFacilitators } from "./facilitators.ts";
import { soak } from "./soak.ts";
import { measureStreamsAlone } from "./streams.ts";
import { measureWebhooks } from "./webhooks.ts";
import { measureWhole } from "./whole.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string" },
    against: { type: "string" },
    facilitators: { type: "boolean", default: false },
    streams: { type: "boolean", default: false },
    webhooks: { type: "boolean", default: false },
    cards: { type: "boolean", default: false },
    pages: { type: "boolean", default: false },
    soak: { type: "string" },
    rounds: { type: "string", default: "6" },
  },
});

const print = (rows: unknown): void => {
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else console.table(rows);
};

const rounds = Number(values.rounds);
if (values.against !== undefined) print(await compareWith(values.against, { rounds, seconds: Number(values.seconds ?? 4) }));
else if (values.facilitators) print(await compareFacilitators({ rounds, seconds: Number(values.seconds ?? 2) }));
else if (values.streams) print([await measureStreamsAlone({ rounds, seconds: Number(values.seconds ?? 2) })]);
else if (values.cards) print(await measureCards({ rounds, seconds: Number(values.seconds ?? 10) }));
else if (values.webhooks) {
  const measured = await measureWebhooks({ rounds, seconds: Number(values.seconds ?? 6) });
  if (values.json) print(measured);
  else {
    const { drain, beside, delays } = measured;
    const { cost, residentMiB, ...drained } = drain;
    for (const row of [[beside], [drained], [cost], delays]) console.table(row);
    console.log(`Resident memory every five seconds of the drain, in MiB: ${residentMiB.join(", ")}.`);
  }
} else if (values.soak !== undefined) {
  const growth = await soak({
    minutes: Number(values.soak),
    perSecond: 50,
    told: (minute) => console.log(JSON.stringify(minute)),
  });
  console.log(`Resident memory grew by ${growth.toFixed(3)} MiB a minute from minute 10.`);
} else if (values.pages) {
  const rounded = (await measureEveryPage()).map(({ scriptKb, shift, ...page }) => ({
    ...page,
    scriptKb: Math.round(scriptKb),
    shift: Number(shift.toFixed(3)),
  }));
  print(rounded);
} else await measureWhole({ seconds: Number(values.seconds ?? 6), json: values.json });
