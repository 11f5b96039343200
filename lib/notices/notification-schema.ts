import { z } from "zod";
import { Timestamp } from "#lib/time.ts";
import { NoticeChannel, NotificationStatus } from "#lib/vocabulary.ts";

export const Notification = z
  .object({
    status: NotificationStatus,
    channels: z.array(
      z.object({
        channel: NoticeChannel,
        acceptedAt: Timestamp.optional().meta({
          description:
            "When the mail server or push service accepted the first message about it. That does not prove that anybody read it.",
        }),
      }),
    ),
    detail: z.string(),
  })
  .meta({
    id: "Notification",
    description:
      "Whether the people who may approve were told about a request. unreachable: no message can be sent now, so give the link to a person.",
  });
export type Notification = z.input<typeof Notification>;
