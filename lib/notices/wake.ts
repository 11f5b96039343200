import { perProcess } from "#lib/process.ts";

const woken = (): EventTarget => perProcess("notices/wake", () => new EventTarget());

/** Wakes the worker of this process, so that it looks for new requests at once. This sends no statement to the database. */
export const wakeNotices = (): void => void woken().dispatchEvent(new Event("wake"));

export const onWake = (listener: () => void): void => woken().addEventListener("wake", listener);
