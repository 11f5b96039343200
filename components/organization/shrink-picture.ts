const SIDE = 128;

/** A square PNG as a data URL, with transparent bars if needed; rejects if the browser cannot read or draw the picture. */
export async function shrinkPicture(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file);
  const canvas = document.createElement("canvas");
  canvas.width = SIDE;
  canvas.height = SIDE;
  const scale = SIDE / Math.max(picture.width, picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser cannot draw pictures.");
  context.drawImage(picture, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
  picture.close();
  return canvas.toDataURL("image/png");
}
