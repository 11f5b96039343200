/** A process that only sends transactions to the chain, until it is killed. */
import { setTimeout as pause } from "node:timers/promises";
import { relay } from "#lib/onchain/relay/relay-worker.ts";

for (;;) {
  await relay();
  await pause(20);
}
