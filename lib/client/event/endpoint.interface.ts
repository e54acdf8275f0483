/** Where a client posts its batches. */
export interface Endpoint {
  /** Origin of the URL: scheme, host and port. */
  readonly origin: string;
  /** Whether the setting `host` is absent. */
  readonly isDefault: boolean;
}
