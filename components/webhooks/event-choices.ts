/** The event types that the form offers. The API also accepts others. */
export const eventChoices = [
  ["payment.*", "Payments"],
  ["checkout.*", "Requests for approval"],
  ["mandate.*", "Mandates"],
  ["serviceAccount.*", "Agents and keys"],
  ["member.*", "Members"],
] as const;

/** The types of the events that an endpoint gets, as text. An empty list stands for all types. */
export const eventsText = (eventTypes: readonly string[]): string =>
  eventTypes.length === 0 ? "All events" : eventTypes.join(", ");
