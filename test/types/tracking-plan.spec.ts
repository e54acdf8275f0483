import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const folder = fileURLToPath(new URL('tracking-plan/', import.meta.url));
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Where the compiler finds the errors of an application, and the innermost reasons that it gives. */
function diagnostics(file: string, resolution: ts.CompilerOptions): string[] {
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    experimentalDecorators: true,
    types: ['node'],
    target: ts.ScriptTarget.ES2022,
    ...resolution,
  };
  const program = ts.createProgram([`${folder}${file}`], options);
  return program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.startsWith(folder) || fileName.startsWith(dist))
    .flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)])
    .map(({ file: source, start, messageText }) => {
      const line = source!.text.slice(0, start).split('\n').at(-1)! + source!.text.slice(start).split('\n')[0]!;
      const reasons = typeof messageText === 'string' ? [messageText] : innermost(messageText);
      return `${line.trim()}\n  ${reasons.join('\n  ')}`;
    });
}

function innermost({ messageText, next = [] }: ts.DiagnosticMessageChain): string[] {
  return next.length > 0 ? next.flatMap(innermost) : [messageText];
}

const number = `Type 'number' is not assignable to type 'string'.`;
// Of the tag that a promise has, and a plain object has not.
const promise = `Type 'string' is not assignable to type 'never'.`;
const notTheClass = `Argument of type 'string' is not assignable to parameter of type 'EventClass<object>'.`;
const noSuchEvent = `Type '"Order Complete"' is not assignable to type '"Shop Opened"'.`;
const plannedOrder = `Data<Pick<OrderCompleted, "orderId" | "revenue">>`;

const errors: [line: string, ...reasons: string[]][] = [
  [
    `analytics.track({ userId, event: 'Order Complete', properties: { orderId: 'o', revenue: 1 } });`,
    `Type '"Order Complete"' is not assignable to type 'keyof TrackingPlan'. Did you mean '"Order Completed"'?`,
  ],
  [`export const a = Track('Order Complete', { userId });`, noSuchEvent, notTheClass],
  [
    `export const b = Track<Checkout>('Order Complete', { properties: ({ result }) => ({ orderId: result.id }) });`,
    noSuchEvent,
    notTheClass,
  ],
  [`analytics.track({ userId, event: 'Order Completed', properties: { orderId: 5, revenue: 1 } });`, number],
  [`analytics.trackEvent(new CouponUsed({ code: 5 }), { userId });`, number],
  [`export const c = Track('Coupon Used', { properties: { code: 5 } });`, number, notTheClass],
  [`export const d = Track<Checkout>('Order Completed', {`, number, notTheClass],
  [
    `export const e = Track(CouponUsed, { properties: () => ({ code: 5 }) });`,
    `Type 'SchemaEventClass<{ code: string; percent?: number | undefined; }>' is not assignable to type '"Shop Opened"'.`,
    number,
  ],
  [
    `properties: ({ result }) => ({ orderId: result.id, revenue: result.id, inCents: 1 }),`,
    `Type 'string' is not assignable to type 'number'.`,
  ],
  [
    `analytics.track({ userId, event: 'Order Completed', properties: { orderId: 'o' } });`,
    `Property 'revenue' is missing in type '{ orderId: string; }' but required in type '${plannedOrder}'.`,
  ],
  [
    `analytics.track({ anonymousId: 'a', event: 'Order Completed' });`,
    `Property 'properties' is missing in type '{ anonymousId: string; event: "Order Completed"; }' but required in type '{ properties: ${plannedOrder}; }'.`,
  ],
  [
    `analytics.track({ userId, event: 'Coupon Used', properties: { orderId: 'o', revenue: 1 } });`,
    `Object literal may only specify known properties, and 'orderId' does not exist in type 'Data<{ code: string; percent?: number | undefined; }>'.`,
  ],
  [
    `export const g = Track('Order Completed', { userId });`,
    `Property 'properties' is missing in type '{ userId: string; }' but required in type '{ properties: MappedField<${plannedOrder}, RecordedMethod>; }'.`,
    notTheClass,
  ],
  [
    `analytics.trackEvent(new CouponUsed({ code: 'c' }), { userId: 1 });`,
    `Type 'number' is not assignable to type 'string'.`,
  ],
  [`analytics.trackEvent(new Refunded({ orderId: 5, amount: 1 }), { userId });`, number],
  [`analytics.trackEvent(new Shipped({ parcel: 5 }), { userId });`, number],
  [`analytics.trackEvent(new Asked({ question: 5 }), { userId });`, number],
  [`analytics.trackEvent(new Rated({ stars: 5 }), { userId });`, number],
  [`analytics.track({ userId, event: 'Refund Asked', properties: { orderId: 5, amount: 1 } });`, number],
  [`export const h = Identify({ traits: async () => ({ plan: await Promise.resolve('pro') }) });`, promise],
  [`export const i = Group({ context: () => Promise.resolve({ ip: '::1' }) });`, promise],
  [
    `export const j = Track('Shop Opened', { properties: async () => ({ by: await Promise.resolve('me') }) });`,
    promise,
    notTheClass,
  ],
  [
    `export const k = Identify({ when: () => Promise.resolve(true) });`,
    `Type 'Promise<boolean>' is not assignable to type 'boolean'.`,
  ],
];

describe('An application with a tracking plan', () => {
  const resolutions: [string, ts.CompilerOptions][] = [
    ['Node', { module: ts.ModuleKind.NodeNext }],
    ['bundlers', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ];

  it.each(resolutions)('compiles where it follows the plan, with the resolution of %s', (_name, resolution) => {
    expect(diagnostics('right.ts', resolution)).toEqual([]);
  });

  it.each(resolutions)('does not compile where it breaks it, with the resolution of %s', (_name, resolution) => {
    expect(diagnostics('wrong.ts', resolution)).toEqual(
      errors.map(([line, ...reasons]) => `${line}\n  ${reasons.join('\n  ')}`),
    );
  });
});
