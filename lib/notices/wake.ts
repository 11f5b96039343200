import { perProcess } from "#lib/process.ts";

const woken = (): EventTarget => perProcess("noticesWoken", () => new EventTarget());

/** Lets the worker of this process look for new requests at once, without a statement to the database. */
export const wakeNotices = (): void => void woken().dispatchEvent(new Event("wake"));

export const onWake = (listener: () => void): void => woken().addEventListener("wake", listener);
