import { database } from "#lib/db/client.ts";
import { readLogo, type Logo } from "#lib/identity/members/logo.ts";
import { settingsOf, type OrganizationSettings } from "#lib/identity/members/organization-store.ts";
import { timeZones } from "#lib/pages/time-zones.ts";
import { notFound } from "#lib/problem.ts";

export type OrganizationView = Omit<OrganizationSettings, "logo"> & {
  readonly zones: readonly string[];
};

/** @throws Problem not_found */
export async function viewOrganization(organizationId: string): Promise<OrganizationView> {
  const found = await settingsOf(database(), organizationId);
  if (!found) throw notFound("organization");
  const { logo: _, ...settings } = found;
  const zones = timeZones();
  // The list of this runtime may have a stored time zone under another name, so add the stored name.
  const { timezone } = settings;
  return { ...settings, zones: timezone === null || zones.includes(timezone) ? zones : [...zones, timezone] };
}

export async function logoOf(organizationId: string): Promise<Logo | null> {
  const found = await settingsOf(database(), organizationId);
  return found?.logo ? readLogo(found.logo) : null;
}
