/** `analytics-node` comes without types. */
declare module 'analytics-node' {
  type Message = Record<string, unknown>;
  export default class Analytics {
    constructor(writeKey: string, options: { host: string });
    identify(message: Message): this;
    track(message: Message): this;
    page(message: Message): this;
    screen(message: Message): this;
    group(message: Message): this;
    alias(message: Message): this;
    flush(): Promise<unknown>;
  }
}
