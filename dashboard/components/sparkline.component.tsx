import { None } from './plain-text.component.js';

/** A line of a sparkline. */
export interface SparkLine {
  values: readonly (number | null)[];
  /** Class with its colour. */
  look: 'good' | 'bad' | 'warn';
}

const WIDTH = 96;
const HEIGHT = 20;

export interface SparklineProps {
  /** What it shows, with its figures: it is an image. */
  label: string;
  lines: readonly SparkLine[];
}

/** Small lines over time, all on one scale. */
export function Sparkline({ label, lines }: SparklineProps) {
  const drawn = lines.filter(({ values }) => values.some((value) => value)); // another would cover a baseline
  if (drawn.length === 0) return <None />;
  const max = Math.max(1, ...drawn.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      {drawn.map(({ values, look }) => (
        <polyline key={look} class={look} points={values.map((value, index) => pointOf(value ?? 0, index)).join(' ')} />
      ))}
    </svg>
  );

  function pointOf(value: number, index: number): string {
    const x = (index / (drawn[0]!.values.length - 1)) * WIDTH;
    const y = HEIGHT - 1 - (value / max) * (HEIGHT - 2);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  }
}
