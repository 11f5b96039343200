import { type FormEvent, useRef, useState } from "react";
import { NOT_LOADED, SaidError } from "./said-error.ts";

type CheckedSubmit = {
  readonly submit: (event: FormEvent<HTMLFormElement>) => void;
  /** True while the code is loaded and while `act` runs. */
  readonly busy: boolean;
  /** Set if the code could not be loaded. */
  readonly missing: Error | null;
};

/**
 * Submits a form whose validation code is not part of the page's first scripts. It waits until `load` has loaded the code, and then
 * calls `act`, which validates the form and sends it. While it is busy, it ignores further presses.
 */
export function useCheckedSubmit(load: () => Promise<unknown>, act: () => Promise<unknown>): CheckedSubmit {
  const running = useRef(false);
  const [busy, setBusy] = useState(false);
  const [missing, setMissing] = useState<Error | null>(null);
  const run = async () => {
    setMissing(null);
    setBusy(true);
    const loaded = await load().then(
      () => true,
      () => false,
    );
    if (loaded) await act();
    else setMissing(new SaidError(NOT_LOADED));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (running.current) return;
    running.current = true;
    void run().finally(() => {
      running.current = false;
      setBusy(false);
    });
  };
  return { submit, busy, missing };
}
