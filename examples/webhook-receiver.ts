// A server that receives the service's events as webhooks. COUNTERSIGN_WEBHOOK_KEYS is the endpoint's secret (whsec_…) or its
// public key (whpk_…), or several of them with spaces between.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { verifyWebhook } from "countersign";

const { COUNTERSIGN_WEBHOOK_KEYS = "", PORT = "8080" } = process.env;
const seen = new Set<string>();

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const event = await verifyWebhook(request.headers, await text(request), COUNTERSIGN_WEBHOOK_KEYS.split(" "));
    // An event can arrive twice, so handle each id only once. A real receiver stores the ids in its database.
    if (!seen.has(event.id)) console.log(event.sequence, event.type, event.data.entityId);
    seen.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    response.writeHead(400).end();
  }
}

const server = createServer((request, response) => void receive(request, response));
server.listen(Number(PORT), "127.0.0.1", () => console.log("ready"));
