/** An error that is not an answer of the service; its message can be shown to people. */
export class SaidError extends Error {}

export const NOT_LOADED =
  "A part of this page could not be loaded. Check your connection and try again. If that does not help, reload the page.";
