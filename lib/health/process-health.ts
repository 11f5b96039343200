import { probeService, type Finding } from "#lib/health/probes.ts";
import { senders, type Sender } from "#lib/onchain/senders.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";
import { perProcess } from "#lib/process.ts";

/** Facts that only the process that serves the API knows. */
export type ProcessHealth = {
  readonly findings: readonly Finding[];
  /** How many payments wait in the queue to be authorized. */
  readonly waiting: number;
  readonly senders: readonly Sender[];
};

const here = async (): Promise<ProcessHealth> => ({
  findings: await probeService(),
  waiting: authorizeQueue().depth,
  senders: senders(),
});

/** The health of the API process; the pages process asks the API process for it. */
export const processHealth = (): Promise<ProcessHealth> => perProcess("health/process-health", () => here)();

/** The pages process calls this once, before anything asks for the health. */
export function askHealthWith(ask: () => Promise<ProcessHealth>): void {
  perProcess("health/process-health", () => ask);
}
