/** An error as JSON, for programs and models: its name, its message, and its facts about the payment. */
export function factsOf(error: unknown): Readonly<Record<string, unknown>> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const { nextActions = [], url, reasons, execution, receipt } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return {
    error: name,
    message,
    nextActions,
    ...(url !== undefined && { url }),
    ...(reasons !== undefined && { reasons }),
    ...(execution !== undefined && { execution, receipt }),
  };
}
