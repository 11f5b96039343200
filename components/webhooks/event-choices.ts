/** The events that the form offers. The API takes every type. */
export const eventChoices = [
  ["payment.*", "Payments"],
  ["checkout.*", "Requests for approval"],
  ["mandate.*", "Mandates"],
  ["serviceAccount.*", "Agents and keys"],
  ["member.*", "Members"],
] as const;

/** The events of an endpoint in words. */
export const eventsText = (eventTypes: readonly string[]): string =>
  eventTypes.length === 0 ? "All events" : eventTypes.join(", ");
