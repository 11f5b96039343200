import { perProcess } from "#lib/process.ts";

const woken = (): EventTarget => perProcess("noticesWoken", () => new EventTarget());

/**
 * Tells the worker of this process that there may be new audit events, so that it looks for new requests for approval at once.
 * This sends no statement to the database.
 */
export const wakeNotices = (): void => void woken().dispatchEvent(new Event("wake"));

export const onWake = (listener: () => void): void => woken().addEventListener("wake", listener);
