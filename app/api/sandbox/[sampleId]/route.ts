import { sampleMethods } from "#lib/server/serve-samples.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = sampleMethods;
