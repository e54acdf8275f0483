import { type ComponentChildren, Fragment } from 'preact';

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values, side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
