/** A process that only relays transactions, until it is killed. */
import { setTimeout as pause } from "node:timers/promises";
import { relay } from "#lib/onchain/relay/relay-worker.ts";

for (;;) {
  await relay();
  await pause(20);
}
