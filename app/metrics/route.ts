import { metricsMethods } from "#lib/server/serve-metrics.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = metricsMethods;
