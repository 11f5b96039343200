"use client";

import { type DialogProps, Overlay } from "./dialog.tsx";

/**
 * A dialog at the right edge with the height of the window, for long content. It has the props of Dialog.
 *
 *     <Drawer trigger="Manage" title="Manage mandate">…</Drawer>
 */
export const Drawer = (props: DialogProps) => <Overlay kind="drawer" {...props} />;
