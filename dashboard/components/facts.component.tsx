import { type ComponentChildren, Fragment } from 'preact';

/** A name with its value, and the class of both; without a value, it is not shown. */
export type Fact = readonly [name: string, value: ComponentChildren, look?: 'mono' | 'number'];

/** Names and values, side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const given = facts.filter(([, value]) => value !== undefined);
  return (
    <dl class="facts">
      {given.map(([name, value, look]) => (
        <Fragment key={name}>
          <dt class={look}>{name}</dt>
          <dd class={look}>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
