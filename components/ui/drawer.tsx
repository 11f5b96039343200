"use client";

import { type DialogProps, Overlay } from "./dialog.tsx";

/** A dialog at the right edge with the height of the window, for long content. */
export const Drawer = (props: DialogProps) => <Overlay kind="drawer" {...props} />;
