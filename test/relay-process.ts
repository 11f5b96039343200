/** A process that relays and does nothing else, until it is ended. */
import { setTimeout as pause } from "node:timers/promises";
import { relay } from "#lib/onchain/relay/relay-worker.ts";

for (;;) {
  await relay();
  await pause(20);
}
