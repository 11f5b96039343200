import { methods, route } from "#lib/api/route.ts";
import { addDevice } from "#lib/push/add-device.ts";
import * as contract from "#lib/push/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.addDevice, addDevice));
