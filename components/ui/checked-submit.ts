import { type FormEvent, useRef, useState } from "react";
import { NOT_LOADED, SaidError } from "./said-error.ts";

type CheckedSubmit = {
  readonly submit: (event: FormEvent<HTMLFormElement>) => void;
  readonly busy: boolean;
  /** Set if the code could not be loaded. */
  readonly missing: Error | null;
};

/** Waits until `load` has loaded the validation code, then calls `act`; ignores further submits meanwhile. */
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
