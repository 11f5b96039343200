import * as contract from "#lib/alerts/contract.ts";
import { setMandateAlerts } from "#lib/alerts/set-mandate-alerts.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.setMandateAlerts, setMandateAlerts));
