/** The events that the form offers. The API accepts all types. */
export const eventChoices = [
  ["payment.*", "Payments"],
  ["checkout.*", "Requests for approval"],
  ["mandate.*", "Mandates"],
  ["serviceAccount.*", "Agents and keys"],
  ["member.*", "Members"],
] as const;

/** The events that an endpoint gets, in words. */
export const eventsText = (eventTypes: readonly string[]): string =>
  eventTypes.length === 0 ? "All events" : eventTypes.join(", ");
