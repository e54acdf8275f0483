/** The dashboard as `scripts/build.mjs` bundles it from `lib/dashboard`: bundlers have no file to carry along. */
export declare const dashboardAssets: {
  /** HTML. */
  page: string;
  /** By name, which has a hash of the contents: gzip, base64. */
  files: Record<string, string>;
};
