/** The event types that the form offers. The API also accepts others. */
export const eventChoices = [
  ["payment.*", "Payments"],
  ["checkout.*", "Requests for approval"],
  ["mandate.*", "Mandates"],
  ["serviceAccount.*", "Agents and keys"],
  ["member.*", "Members"],
] as const;

export const eventsText = (eventTypes: readonly string[]): string =>
  eventTypes.length === 0 ? "All events" : eventTypes.join(", ");
