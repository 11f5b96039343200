/** An error that did not come from the service and whose message can be shown to people. */
export class SaidError extends Error {}
