import { deleteOldNotices } from "#lib/notices/notice-store.ts";

const KEPT_DAYS = 30;
const AT_ONCE = 1_000;

export async function forgetOldNotices(): Promise<number> {
  let gone = 0;
  for (;;) {
    const now = await deleteOldNotices(KEPT_DAYS, AT_ONCE);
    gone += now;
    if (now < AT_ONCE) return gone;
  }
}
