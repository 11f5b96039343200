/**
 * `npm run bench`: the production server beside its baselines, in one run. `-- --json` prints JSON, `-- --seconds N` measures N seconds each.
 * `-- --against COMMIT` compares this commit with another one in turns, `--rounds N` says how often.
 */
import { parseArgs } from "node:util";
import { compareWith } from "./against.ts";
import { measureWhole } from "./whole.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string", default: "6" },
  },
});

if (values.against === undefined) await measureWhole({ seconds: Number(values.seconds ?? 6), json: values.json });
else {
  const rows = await compareWith(values.against, { rounds: Number(values.rounds), seconds: Number(values.seconds ?? 4) });
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else console.table(rows);
}
