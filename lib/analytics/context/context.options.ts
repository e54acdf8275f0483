import { Must } from '../../common/options.rules.js';

const Switch = () => Must('be true or false', (value) => typeof value === 'boolean');

/** Which facts of an HTTP request go into the `context` of the events that are recorded in it. */
export class ContextOptions {
  /**
   * `context.ip`: the client's address, as the platform computes it.
   * @default true
   */
  @Switch()
  ip: boolean = true;

  /**
   * `context.userAgent`.
   * @default true
   */
  @Switch()
  userAgent: boolean = true;

  /**
   * `context.locale`: the first language that the client accepts.
   * @default true
   */
  @Switch()
  locale: boolean = true;

  /**
   * `context.page`: `path`, `url` and `referrer`, without their queries, which may hold secrets.
   * @default true
   */
  @Switch()
  page: boolean = true;
}
