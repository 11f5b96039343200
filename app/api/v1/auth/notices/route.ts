import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/notices/contract.ts";
import { getNotices } from "#lib/notices/get-notices.ts";
import { setNotices } from "#lib/notices/set-notices.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.getNotices, getNotices),
  route(contract.setNotices, setNotices),
);
