import { once } from 'node:events';

import { type CanActivate, type ExecutionContext, Injectable, UseGuards, UseInterceptors } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { type AnalyticsRequest, AnalyticsContextInterceptor, AnalyticsService, Track } from 'nestjs-analytics-relay';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { CollectingApp } from '../support/collecting.app.js';

interface Message {
  from: string;
  text: string;
}

/** Puts the user on the client, as a guard does that has checked a token. */
@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const ws = context.switchToWs();
    ws.getClient<AnalyticsRequest>().user = { sub: ws.getData<Message>().from };
    return true;
  }
}

@WebSocketGateway({ path: '/chat' })
class ChatGateway {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track('Message Sent', {
    userId: ({ args: [, message] }) => (message as Message).from,
    properties: ({ result }) => ({ result }),
  })
  @SubscribeMessage('send')
  send(@ConnectedSocket() _client: WebSocket, @MessageBody() message: Message) {
    return { event: 'sent', data: message.text };
  }

  @SubscribeMessage('replay')
  @Track('Replayed', { userId: 'u1', properties: ({ result }) => ({ result }) })
  replay(@MessageBody() _message: Message) {
    return of({ event: 'sent', data: 1 }, { event: 'sent', data: 2 });
  }

  @UseGuards(UserGuard)
  @UseInterceptors(AnalyticsContextInterceptor)
  @SubscribeMessage('guarded')
  @Track('Guarded', { properties: ({ request, args: [client] }) => ({ same: request === client }) })
  guarded(@ConnectedSocket() _client: WebSocket, @MessageBody() message: Message) {
    this.analytics.identify({ traits: { text: message.text } });
    return { event: 'sent', data: message.text };
  }

  @UseInterceptors(AnalyticsContextInterceptor)
  @SubscribeMessage('unknown')
  @Track('Unknown')
  unknown(@MessageBody() message: Message) {
    this.analytics.track({ event: 'Direct' });
    return { event: 'sent', data: message.text };
  }
}

describe.each(platforms)('A WebSocket gateway on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start() {
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      providers: [ChatGateway],
      prepare: (host) => host.useWebSocketAdapter(new WsAdapter(host)),
    });
    const connect = async () => {
      const client = new WebSocket(`${app.host.replace('http', 'ws')}/chat`);
      afterwards(() => client.terminate());
      await once(client, 'open');
      const answers: string[] = [];
      client.on('message', (data: Buffer) => answers.push(data.toString()));
      return {
        answers,
        ask: async (event: string, data: Message) => {
          client.send(JSON.stringify({ event, data }));
          await once(client, 'message');
        },
      };
    };
    return { app, connect };
  }

  it('records messages, with ids that the mappers tell', async () => {
    const { app, connect } = await start();
    const { ask, answers } = await connect();
    await ask('send', { from: 'u1', text: 'hello' });
    await ask('replay', { from: 'u1', text: '' });
    const events = await app.eventually(2);
    expect(answers).toEqual(['"hello"', 1, 2].map((data) => `{"event":"sent","data":${data}}`));
    expect(events.map(({ event, userId, properties }) => [event, userId, properties])).toEqual([
      ['Message Sent', 'u1', { result: { event: 'sent', data: 'hello' } }],
      ['Replayed', 'u1', { result: { event: 'sent', data: 2 } }],
    ]);
  });

  it('has the user that a guard put on the client, under AnalyticsContextInterceptor', async () => {
    const { app, connect } = await start();
    const clients = await Promise.all(Array.from({ length: 5 }, connect));
    await Promise.all(clients.map(({ ask }, index) => ask('guarded', { from: `u${index}`, text: `u${index}` })));
    const events = await app.events();
    const identified = events.filter(({ type }) => type === 'identify');
    expect(identified.map(({ userId }) => userId)).toEqual(identified.map(({ traits }) => traits!.text as string));
    const tracked = events.filter(({ type }) => type === 'track');
    expect(tracked.map(({ userId }) => userId).sort()).toEqual(['u0', 'u1', 'u2', 'u3', 'u4']);
    expect(tracked.every(({ properties }) => properties!.same as boolean)).toBe(true);
  });

  it('makes up no visitor where nobody is known, and answers all the same', async () => {
    const { app, connect } = await start();
    const { ask, answers } = await connect();
    await ask('unknown', { from: 'u1', text: 'hello' });
    expect(answers).toEqual(['{"event":"sent","data":"hello"}']);
    expect(await app.events()).toEqual([]);
    expect(app.log.matching(/^warn/)).toEqual([
      'warn ChatGateway.unknown was not recorded: at least one of userId and anonymousId must be a non-empty string',
    ]);
  });
});
