/** Adds properties that are not printed with the error, because they are long, and may have a credential that pays. */
export function hide(error: Error, facts: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(facts))
    Object.defineProperty(error, name, { value, configurable: true, enumerable: false, writable: true });
}
