// Corrects postgres 3.4.9, which does not survive a server that goes away: a write to a connection that was just closed throws
// where nobody can catch it (porsager/postgres#1208), the first query after it fails with an error of before, and the owner of a
// closed connection goes on writing to whoever has it next. Each life of a connection gets a number, and who holds an older one
// is told CONNECTION_CLOSED. A server that vanished without a word (a host that lost power, a network that is cut) would be waited for
// until TCP gives up, a quarter of an hour: five seconds after statement_timeout, which a live server keeps, its silence counts as an
// end, but not while a query is yet to be written. What was sent is let go with the answer: a query that is over is not collected before
// the next full collection of garbage, and carried its parameters through every small one. Runs after each install; goes away with the release that brings this.
import { readFileSync, writeFileSync } from "node:fs";

const VERSION = "3.4.9";
const folder = new URL("../node_modules/postgres/", import.meta.url);

const CLOSED = "Errors.connection('CONNECTION_CLOSED', options)";

const changes = {
  "connection.js": [
    [`    count: 0,\n    id\n`, `    count: 0,\n    epoch: 0,\n    id\n`],
    [
      `    socket.removeAllListeners()\n    socket = null\n`,
      `    socket.removeAllListeners()\n    socket = null\n    chunk = nextWriteTimer = null\n    connection.epoch++\n`,
    ],
    [
      `      socket.on('data', data)\n      keep_alive`,
      `      socket.on('data', data)\n      const { statement_timeout } = options.connection\n      statement_timeout && socket.setTimeout(Number(statement_timeout) + 5000, () => {\n        if (chunk === null && (query || sent.length)) socket.destroy()\n      })\n      keep_alive`,
    ],
    [
      `    closedTime = performance.now()\n    hadError`,
      `    query = results = errorResponse = null\n    result = new Result()\n    closedTime = performance.now()\n    hadError`,
    ],
    [
      `        query.resolve(results || result)\n      }\n`,
      `        query.resolve(results || result)\n        query.args = query.parameters = null\n      }\n`,
    ],
    [
      `    const x = socket.write(chunk, fn)\n`,
      `    if (socket === null) {\n      chunk = nextWriteTimer = null\n      error(${CLOSED})\n      return false\n    }\n    const x = socket.write(chunk, fn)\n`,
    ],
  ],
  "index.js": [
    [
      `    c.reserved.release = true\n`,
      `    c.reserved.release = true\n    const epoch = c.epoch\n    c.onclose = error => {\n      while (queue.length)\n        queue.shift().reject(error)\n    }\n`,
    ],
    [
      `    sql.release = () => {\n      c.reserved = null\n`,
      `    sql.release = () => {\n      if (c.epoch !== epoch)\n        return\n      c.onclose = null\n      c.reserved = null\n`,
    ],
    [
      `    function handler(q) {\n      c.queue === full\n        ? queue.push(q)\n`,
      `    function handler(q) {\n      if (c.epoch !== epoch)\n        return q.reject(${CLOSED})\n      c.queue === full\n        ? queue.push(q)\n`,
    ],
    // A reservation that waits is handed its connection from the queue alone: taken out of it, it would wait for ever.
    [
      `    queries.length && connect(c, queries.shift())\n`,
      `    if (queries.length) {\n      const next = queries.shift()\n      next.reserve && queries.push(next)\n      connect(c, next)\n    }\n`,
    ],
    [`    let savepoints = 0\n      , connection\n`, `    let savepoints = 0\n      , connection\n      , epoch\n`],
    [
      `        q.catch(e => uncaughtError || (uncaughtError = e))\n        c.queue === full\n`,
      `        q.catch(e => uncaughtError || (uncaughtError = e))\n        if (c.epoch !== epoch)\n          return q.reject(${CLOSED})\n        c.queue === full\n`,
    ],
    [`      connection = c\n      move(c, reserved)\n`, `      connection = c\n      epoch = c.epoch\n      move(c, reserved)\n`],
  ],
};

const { version } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
if (version !== VERSION) throw new Error(`scripts/patch.mjs is for postgres ${VERSION}, and ${version} is installed.`);

for (const source of ["src", "cjs/src"]) {
  for (const [name, edits] of Object.entries(changes)) {
    const file = new URL(`${source}/${name}`, folder);
    const before = readFileSync(file, "utf8");
    let text = before;
    for (const [original, corrected] of edits) {
      if (text.includes(corrected)) continue;
      if (text.split(original).length !== 2) throw new Error(`scripts/patch.mjs does not fit ${source}/${name}. Run npm ci.`);
      text = text.replace(original, () => corrected);
    }
    if (text !== before) writeFileSync(file, text);
  }
}
