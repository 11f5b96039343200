import { perProcess } from "#lib/process.ts";

const woken = (): EventTarget => perProcess("noticesWoken", () => new EventTarget());

/** Says that this process wrote events, so that its worker looks for requests at once. Costs no statement. */
export const wakeNotices = (): void => void woken().dispatchEvent(new Event("wake"));

export const onWake = (listener: () => void): void => woken().addEventListener("wake", listener);
