/** The customers' portal, which `scripts/build.mjs` bundles into this module, so users' bundlers have no files to copy. */
export declare const portalAssets: {
  /** HTML. */
  page: string;
  /** Files by name, gzipped and in base64. Each name contains a hash of the contents. */
  files: Record<string, string>;
};
