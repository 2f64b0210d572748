/** A style sheet as the build gives it: deflated (zlib), in base64. */
declare module "*.css" {
  const text: string;
  export default text;
}
