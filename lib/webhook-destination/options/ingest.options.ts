import { Must } from '../../common/options.rules.js';

/** Where SDKs post to. */
export class IngestOptions {
  /**
   * First part of every route, without slashes around it.
   * @default 'v1'
   */
  @Must('be a path such as "v1", without slashes around it', (value) => /^[\w.~-]+(\/[\w.~-]+)*$/.test(String(value)))
  prefix: string = 'v1';
}
