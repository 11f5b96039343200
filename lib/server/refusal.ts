import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

type Refusal = {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  readonly headers?: Record<string, string>;
};

export const refusals = {
  tooMany: {
    status: 429,
    title: "Too many pages at once",
    text: "Your network has asked for many pages in a short time. Wait a few seconds, then load this page again.",
    headers: { "Retry-After": "2" },
  },
  busy: {
    status: 503,
    title: "Too many pages are requested at the moment",
    text: "This page could not be shown in time. It loads again by itself in a few seconds. Payments continue.",
    headers: { "Retry-After": "2" },
  },
  away: {
    status: 503,
    title: "The pages are starting",
    text: "This page loads by itself in a few seconds. Payments continue.",
    headers: { "Retry-After": "5" },
  },
  lost: {
    status: 503,
    title: "The database does not answer",
    text: "Nothing was changed, and nothing was paid. This page loads again by itself when the database answers.",
    headers: { "Retry-After": "5" },
  },
  otherMethod: {
    status: 405,
    title: "Pages can only be read",
    text: "This address answers GET and HEAD.",
    headers: { Allow: "GET, HEAD" },
  },
  nothing: { status: 404, title: "Not found", text: "There is nothing at this address." },
} as const satisfies Record<string, Refusal>;

/** Loads a page that was refused with 503 again when it is there. A page that reloads by itself would interrupt its reader. */
const AGAIN = `const again=()=>setTimeout(async()=>{
const reply=await fetch(location.href,{method:"HEAD"}).catch(()=>null);
if(reply&&reply.status!==503&&reply.status!==429)location.reload();else again()},5000);again()`;
const AGAIN_HASH = createHash("sha256").update(AGAIN).digest("base64");

const POLICY = `default-src 'none'; script-src 'sha256-${AGAIN_HASH}'; connect-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}h1{font-size:1.25rem}";

const bodies = new Map(
  Object.values(refusals).map((refusal) => {
    const { status, title, text } = refusal;
    const script = status === 503 ? `<script>${AGAIN}</script>` : "";
    const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style>`;
    return [
      refusal,
      Buffer.from(
        `<!doctype html><html lang="en"><head>${head}</head><body><main><h1>${title}</h1><p>${text}</p></main>${script}</body></html>`,
      ),
    ];
  }),
);

/** Works without the pages process. */
export function refuse(outgoing: ServerResponse, refusal: (typeof refusals)[keyof typeof refusals]): void {
  if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy();
  const body = bodies.get(refusal)!;
  outgoing.writeHead(refusal.status, {
    ...("headers" in refusal && refusal.headers),
    "Cache-Control": "no-store",
    "Content-Length": body.length,
    "Content-Security-Policy": POLICY,
    "Content-Type": "text/html; charset=utf-8",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  });
  outgoing.end(outgoing.req.method === "HEAD" ? undefined : body);
}

const HELD_MS = 500;
const HELD_MAX = 512;
let held = 0;

/** Waits HELD_MS, so that a client retries less often. If HELD_MAX refusals wait, sends at once and closes the connection. */
export async function refuseSlowly(outgoing: ServerResponse, refusal: (typeof refusals)[keyof typeof refusals]): Promise<void> {
  if (held >= HELD_MAX) {
    outgoing.shouldKeepAlive = false;
    return refuse(outgoing, refusal);
  }
  held += 1;
  await pause(HELD_MS);
  held -= 1;
  refuse(outgoing, refusal);
}
