/** A refusal that did not come from the service, whose message is written for the reader. */
export class SaidError extends Error {}
