import { setTimeout as sleep } from 'node:timers/promises';

import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type CanActivate, type ExecutionContext, Injectable, UseGuards, UseInterceptors } from '@nestjs/common';
import {
  Args,
  GqlExecutionContext,
  GraphQLModule,
  Int,
  Mutation,
  Parent,
  Query,
  ResolveField,
  Resolver,
  ObjectType,
  Field,
  Subscription,
} from '@nestjs/graphql';
import { createClient } from 'graphql-ws';
import { AnalyticsContextInterceptor, type AnalyticsRequest, AnalyticsService, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { CollectingApp } from '../support/collecting.app.js';

@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { req } = GqlExecutionContext.create(context).getContext<{ req: AnalyticsRequest }>();
    req.user = { id: Number(req.headers!['x-user']) };
    return true;
  }
}

@ObjectType()
class Order {
  @Field(() => Int)
  id!: number;
}

@Resolver(() => Order)
@UseGuards(UserGuard)
class OrdersResolver {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track('Order Viewed', {
    properties: ({ args: [id], result }) => ({ id: id as number, found: (result as Order).id }),
  })
  @Query(() => Order)
  order(@Args('id', { type: () => Int }) id: number): Order {
    return { id };
  }

  @Mutation(() => Order)
  @Track('Order Placed', { on: 'both', properties: (call) => ({ failed: 'error' in call }) })
  async place(@Args('id', { type: () => Int }) id: number): Promise<Order> {
    await Promise.resolve();
    if (id < 0) throw new Error('no such order');
    this.analytics.identify({ traits: { buyer: true } });
    return { id };
  }

  @Subscription(() => Int)
  @UseInterceptors(AnalyticsContextInterceptor)
  async *counted(@Args('upTo', { type: () => Int }) upTo: number): AsyncGenerator<{ counted: number }> {
    for (let counted = 1; counted <= upTo; counted++) {
      await sleep(1);
      this.analytics.track({ event: 'Counted', properties: { counted, upTo } });
      yield { counted };
    }
  }

  @ResolveField(() => String)
  @Track('Total Read', { properties: ({ args: [order] }) => ({ ...(order as Order) }) })
  total(@Parent() _order: Order): string {
    return '9.90';
  }
}

describe.each(platforms)('GraphQL on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start() {
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          playground: false,
          // Express hands over an object that holds the request, Fastify the request itself.
          context: (given: { req?: unknown; extra?: { request: unknown } }) => ({
            req: given.extra?.request ?? given.req ?? given,
          }),
          subscriptions: { 'graphql-ws': true },
        }),
      ],
      providers: [OrdersResolver],
    });
    const ask = async (query: string): Promise<unknown> => {
      const response = await fetch(`${app.host}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-user': '7' },
        body: JSON.stringify({ query }),
      });
      return response.json();
    };
    return { app, ask };
  }

  it('records queries, mutations and fields, with the user and context of the HTTP request', async () => {
    const { app, ask } = await start();
    expect(await ask('{ order(id: 3) { id total } }')).toEqual({ data: { order: { id: 3, total: '9.90' } } });
    expect(await ask('mutation { place(id: 4) { id } }')).toEqual({ data: { place: { id: 4 } } });
    const events = await app.events();
    expect(events.map(({ type, event, properties }) => [event ?? type, properties])).toEqual([
      ['Order Viewed', { id: 3, found: 3 }],
      ['Total Read', { id: 3 }],
      ['identify', undefined],
      ['Order Placed', { failed: false }],
    ]);
    for (const event of events) expect(event).toMatchObject({ userId: '7', context: { page: { path: '/graphql' } } });
  });

  it('records a subscription with the user of its connection, while other subscriptions run', async () => {
    const { app } = await start();
    const upTo = [2, 3, 4];
    const clients = upTo.map((user) => {
      class AsUser extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { headers: { 'x-user': String(user) } });
        }
      }
      return createClient({ url: `${app.host.replace('http', 'ws')}/graphql`, webSocketImpl: AsUser });
    });
    const counts = clients.map(async (client, index) => {
      let count = 0;
      for await (const { data } of client.iterate({ query: `subscription { counted(upTo: ${upTo[index]}) }` })) {
        if (data?.counted) count++;
      }
      await client.dispose();
      return count;
    });
    expect(await Promise.all(counts)).toEqual(upTo);
    const events = await app.events();
    expect(events).toHaveLength(9);
    for (const { userId, properties } of events) expect(userId).toBe(String(properties!.upTo));
  });

  it('records a failed mutation, and answers with its error', async () => {
    const { app, ask } = await start();
    expect(await ask('mutation { place(id: -1) { id } }')).toMatchObject({ errors: [{ message: 'no such order' }] });
    expect(await app.events()).toMatchObject([{ event: 'Order Placed', userId: '7', properties: { failed: true } }]);
  });
});
