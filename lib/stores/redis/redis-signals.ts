import type { Redis } from 'ioredis';

import { parseJson } from '../../common/value.util.js';
import { type OnSignal, type SignalConnection, type SignalKind, StoreSignals } from '../shared/store-signals.js';
import type { RedisConnection } from './redis.connection.js';

/**
 * Signals between processes, on a connection separate from the commands. They are plain: who may publish in Redis may
 * usually write the data, too.
 */
export class RedisSignals extends StoreSignals {
  readonly channels = this.connection.channels;

  /** @param id of this process, whose own signals are ignored */
  constructor(
    private readonly connection: RedisConnection,
    private readonly id: string,
  ) {
    super();
  }

  /** Returns the channel and the message that announce due deliveries of destinations. */
  dueMessage(destinations: string[]): [channel: string, message: string] {
    return [this.channels.due, JSON.stringify([this.id, ...destinations])];
  }

  async send(text: string): Promise<void> {
    await this.connection.client.publish(this.channels.peer, JSON.stringify([this.id, text]));
  }

  /** Notifies other processes of leased deliveries that were purged. */
  async sendPurged(ids: string[]): Promise<void> {
    await this.connection.client.publish(this.channels.purged, JSON.stringify([this.id, ...ids]));
  }

  /** Connects to any node of a cluster, as each forwards signals to the others. */
  protected override connect(onSignal: OnSignal, onEnd: () => void): SignalConnection {
    const { client } = this.connection;
    const nodes = 'nodes' in client ? client.nodes() : [client];
    const kinds = new Map(Object.entries(this.channels).map(([kind, channel]) => [channel, kind as SignalKind]));
    const node = nodes[Math.floor(Math.random() * nodes.length)] ?? (client as Redis);
    const connection = node.duplicate({ lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
    connection.on('error', () => undefined).on('end', onEnd);
    connection.on('message', (channel: string, message: string) => {
      if (channel === this.channels.registry) return onSignal('registry', []);
      const [sender, ...texts] = readTexts(message);
      if (sender === undefined || sender === this.id) return;
      onSignal(kinds.get(channel) ?? 'due', texts);
    });
    const subscribe = () => connection.subscribe(...Object.values(this.channels));
    return {
      listen: () => connection.connect().then(subscribe),
      check: subscribe,
      close: () => connection.disconnect(),
    };
  }
}

/** Returns the texts of a signal; empty for messages that other users of the store send. */
function readTexts(signal: string): string[] {
  const texts = parseJson(signal);
  return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? texts : [];
}
