"use client";

import { type DialogProps, Overlay } from "./dialog.tsx";

/**
 * A dialog at the right edge, as high as the window: for what is longer than a dialog. It takes what Dialog takes.
 *
 *     <Drawer trigger="Manage" title="Manage mandate">…</Drawer>
 */
export const Drawer = (props: DialogProps) => <Overlay kind="drawer" {...props} />;
