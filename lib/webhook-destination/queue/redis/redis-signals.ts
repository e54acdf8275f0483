import type { Redis } from 'ioredis';
import { ignoreElements, merge, Subject } from 'rxjs';

import type { PeerChannel } from '../peer-channel.interface.js';
import { readTexts, type SignalConnection, SignalListener } from '../shared/signal-listener.js';
import type { Client } from './redis.connection.js';

/** Signals between processes, on a connection separate from the commands. */
export class RedisSignals implements PeerChannel {
  private readonly listener = new SignalListener((onSignal, onEnd) => this.connect(onSignal, onEnd));
  private readonly named = new Subject<string[]>();
  private readonly texts = new Subject<string>();
  private readonly channels: { registry: string; due: string; peer: string };

  /** Emits when the registry may have changed, and whenever listening begins, as signals may have been missed. */
  readonly registry$ = this.listener.signals$;
  /** Emits destinations for which other processes announced due deliveries, while `registry$` is subscribed to. */
  readonly due$ = this.named.asObservable();
  /** Emits the texts that other processes send with `send`. */
  readonly received$ = merge(this.listener.signals$.pipe(ignoreElements()), this.texts);

  /**
   * @param id of this process, whose own signals are ignored
   * @param client the connection for commands, while the queue is open
   */
  constructor(
    prefix: string,
    private readonly id: string,
    private readonly client: () => Client,
  ) {
    this.channels = { registry: registryChannel(prefix), due: `${prefix}:due`, peer: `${prefix}:peer` };
  }

  /** Returns the channel and the message that announce due deliveries of destinations. */
  dueMessage(destinations: string[]): [channel: string, message: string] {
    return [this.channels.due, JSON.stringify([this.id, ...destinations])];
  }

  async send(text: string): Promise<void> {
    await this.client().publish(this.channels.peer, JSON.stringify([this.id, text]));
  }

  /** Completes all subscriptions. */
  close(): void {
    this.listener.close();
  }

  /** Connects to any node of a cluster, as each forwards signals to the others. */
  private connect(onSignal: () => void, onEnd: () => void): SignalConnection {
    const client = this.client();
    const nodes = 'nodes' in client ? client.nodes() : [client];
    const node = nodes[Math.floor(Math.random() * nodes.length)] ?? (client as Redis);
    const connection = node.duplicate({ lazyConnect: true, retryStrategy: () => null });
    connection.on('error', () => undefined).on('end', onEnd);
    connection.on('message', (channel: string, message: string) => {
      if (channel === this.channels.registry) return onSignal();
      const [sender, ...texts] = readTexts(message);
      if (sender === undefined || sender === this.id) return;
      if (channel === this.channels.peer) texts.forEach((text) => this.texts.next(text));
      else this.named.next(texts);
    });
    const subscribe = () => connection.subscribe(...Object.values(this.channels));
    return {
      listen: () => connection.connect().then(subscribe),
      check: subscribe,
      close: () => connection.disconnect(),
    };
  }
}

/** Returns the channel on which registry changes are published. */
export function registryChannel(prefix: string): string {
  return `${prefix}:{registry}:changed`;
}
