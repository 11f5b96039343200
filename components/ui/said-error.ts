/** An error that does not come from the service. Its message can be shown to people. */
export class SaidError extends Error {}
