/** next.config.ts imports documents as text. */
declare module "*.md" {
  const text: string;
  export default text;
}
