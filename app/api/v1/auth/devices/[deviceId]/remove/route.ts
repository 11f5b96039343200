import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/push/contract.ts";
import { removeDevice } from "#lib/push/remove-device.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.removeDevice, removeDevice));
