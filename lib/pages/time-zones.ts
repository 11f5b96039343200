/** The time zones that people can choose, UTC first. */
export const timeZones = (): string[] => ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
