import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Cluster } from 'ioredis';
import { WebhookDestinationService } from 'nestjs-analytics-relay';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { type OwnService, ownRedis } from '../../../support/own-services.js';
import { post } from '../../../support/post.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore], () => {
  describe('A queue on a Redis cluster', () => {
    const afterwards = useCleanUps();
    let nodes: OwnService[];

    beforeAll(async () => {
      const settings = ['--appendonly', 'yes', '--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'];
      nodes = await Promise.all(Array.from({ length: 3 }, () => ownRedis(settings)));
      await Promise.all(nodes.map((node) => node.start()));
      const addresses = nodes.map(({ url }) => new URL(url).host);
      await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
      // Each node must have heard of the others.
      const cluster = connect();
      await waitFor(async () => {
        const infos = cluster.nodes().map((node) => node.cluster('INFO').catch(String));
        const all = await Promise.all(infos);
        return all.length === 3 && all.every((info) => String(info).includes('cluster_state:ok'));
      });
      cluster.disconnect();
    });
    afterAll(() => Promise.all(nodes.map((node) => node.remove())));

    const connect = () => {
      const cluster = new Cluster(nodes.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) })));
      cluster.on('error', () => undefined);
      return cluster;
    };
    const given = () => {
      const connection = connect();
      afterwards(() => connection.disconnect());
      return connection;
    };

    it('whose prefix has no hash tag is refused at start', async () => {
      for (const prefix of ['relay', 'relay{}', 'relay{1']) {
        await expect(sharedQueue({ connection: given(), prefix })().open()).rejects.toMatchObject({
          code: 'queue_unavailable',
          message: `bullmqQueue: prefix must contain a hash tag on a Redis cluster, such as "{${prefix}}"`,
        });
      }
    });

    it('that connects to a single node is refused at start, unless that node has the queue', async () => {
      const open = async ({ url }: OwnService) => {
        const queue = sharedQueue({ connection: url, prefix: '{relay}' })();
        await queue.open();
        await queue.close();
        return 'opened';
      };
      const results = await Promise.all(nodes.map((node) => open(node).catch(String)));
      const refused = 'connection must be an ioredis Cluster: this Redis is a node of a cluster';
      expect(results.filter((result) => result.endsWith(refused))).toHaveLength(2);
      expect(results).toContain('opened');
    });

    it('delivers across processes, retries, replays and deletes', async () => {
      const queue = sharedQueue({ connection: given(), prefix: '{relay}' });
      const options = { queue, registry: 'store' as const, registrySecret: 'a secret of this test only' };
      const delivery = { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 10 };
      const { receiver, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { ...options, delivery, mode: 'deliver' },
        destination: { name: 'Webhooks' },
      });
      const accepting = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { ...options, mode: 'ingest' },
        destination: { name: 'Webhooks' },
      });
      receiver.statuses = [410, 503, 200];
      const track = (messageId: string) =>
        post(`${accepting.host}/v1/track`, { userId: 'u1', event: 'Ordered', messageId });
      const count = async (state: 'delivered' | 'dead', count: number) =>
        waitFor(async () => (await relay.deliveries({ state })).length === count);
      expect((await track('dead')).status).toBe(200);
      await count('dead', 1);
      expect((await track('retried')).status).toBe(200);
      await count('delivered', 1);
      expect((await track('retried')).status).toBe(200); // a repeated message
      const ingest = accepting.app.get(WebhookDestinationService);
      expect(await ingest.replay({ state: 'dead' })).toBe(1);
      await count('delivered', 2);
      expect(receiver.webhooks.map(({ status }) => status)).toEqual([410, 503, 200, 200]);
      await ingest.sources.create({ name: 'blog', writeKey: 'wk_blog' });
      await waitFor(async () => (await relay.sources.list()).some(({ name }) => name === 'blog'));
      await ingest.requestDeletion({ userId: 'u1' });
      expect(await relay.deliveries({ messageId: 'retried' })).toEqual([]);
    });
  });
});
