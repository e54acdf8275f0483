import { type INestApplication, type LoggerService, type ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import {
  type DeliveryEvent,
  type DeliveryRecord,
  memoryQueue,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

import { waitFor } from './wait-for.js';

type RelayOptions = Partial<WebhookDestinationModuleOptions> & {
  /** Modules and providers of the application around it. */
  imports?: ModuleMetadata['imports'];
  providers?: ModuleMetadata['providers'];
  adapter?: ExpressAdapter;
};

/** Keeps the lines that the application logs. */
export class LogLines implements LoggerService {
  readonly lines: string[] = [];

  log = (line: unknown): void => this.add('log', line);
  warn = (line: unknown): void => this.add('warn', line);
  error = (line: unknown): void => this.add('error', line);
  debug = (): void => undefined;
  verbose = (): void => undefined;

  matching(pattern: RegExp): string[] {
    return this.lines.filter((line) => pattern.test(line));
  }

  private add(level: string, line: unknown): void {
    this.lines.push(`${level} ${String(line)}`);
  }
}

/** An application that relays from the source `shop` (write key `wk_shop`), with a queue in memory. */
export class Relay {
  readonly events: DeliveryEvent[] = [];

  private constructor(
    readonly app: INestApplication,
    readonly log: LogLines,
  ) {
    this.service.events$.subscribe((event) => this.events.push(event));
  }

  static async start({ imports = [], providers = [], adapter, ...options }: RelayOptions): Promise<Relay> {
    const log = new LogLines();
    const testing = await Test.createTestingModule({
      imports: [
        ...imports,
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [],
          queue: memoryQueue(),
          ...options,
          delivery: { allowedNetworks: ['127.0.0.0/8'], ...options.delivery },
        }),
      ],
      providers,
    })
      .setLogger(log)
      .compile();
    const app = testing.createNestApplication(adapter ?? new ExpressAdapter());
    app.useLogger(log);
    await app.init();
    return new Relay(app, log);
  }

  get service(): WebhookDestinationService {
    return this.app.get(WebhookDestinationService);
  }

  /** Accepts one track message for each id. */
  async track(...messageIds: string[]): Promise<void> {
    const messages = messageIds.map((messageId) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId }));
    const { rejected } = await this.service.accept('wk_shop', messages);
    if (rejected.length > 0) throw new Error(JSON.stringify(rejected));
  }

  /** The deliveries that have not been made. */
  async undelivered(): Promise<DeliveryRecord[]> {
    const all = await this.service.deliveries({}, { limit: 1_000 });
    return all.filter(({ state }) => state !== 'delivered');
  }

  /** Resolves with the events of a type once there are as many. */
  async settled(type: DeliveryEvent['type'], count = 1): Promise<DeliveryEvent[]> {
    const found = () => this.events.filter((event) => event.type === type);
    await waitFor(
      () => found().length >= count,
      () => `${count} events "${type}", got ${JSON.stringify(this.events)}`,
    );
    return found();
  }

  async stop(): Promise<void> {
    await this.app.close();
  }
}
