import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { theme } from '../shell/theme.state.js';
import type { DrawnChart } from './chart.canvas.js';

export interface ChartLine {
  label: string;
  /** Colour variable of the theme, such as `--good`. */
  colour: string;
  /** Dash pattern, so that lines differ in more than their colour. */
  dash?: number[];
  /** Some times have no value. */
  hasGaps?: boolean;
}

/** Times in s since the epoch, then the values of each line. */
export type ChartData = [number[], ...(number | null)[][]];

export interface ChartProps {
  title: string;
  lines: ChartLine[];
  /** Formats a value, with its unit. */
  toText: (value: number) => string;
  data: ChartData;
}

/** Lines over time. A table beside the chart must have the figures, because the chart is an image. */
export function Chart({ title, lines, toText, data }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<DrawnChart>(undefined);
  const latest = useRef(data);
  const [failed, setFailed] = useState(false);
  latest.current = data;
  const isDark = useIsDark();
  useEffect(() => {
    const place = element.current!; // the ref is already null when the clean-up runs
    let isGone = false;
    import('./chart.canvas.js').then(
      ({ drawChart }) => {
        if (!isGone) chart.current = drawChart(place, lines, toText, latest.current);
      },
      () => setFailed(true),
    );
    return () => {
      isGone = true;
      chart.current?.remove();
      chart.current = undefined;
    };
  }, [isDark]);
  useEffect(() => chart.current?.setData(data), [data]);
  return (
    <div class="chart" ref={element} role="img" aria-label={`Chart: ${title}. The table has the figures.`}>
      {failed && <p class="hint">The chart could not be loaded. The table has its figures.</p>}
    </div>
  );
}

/** Whether the theme is dark: unlike the page, a canvas does not follow the style sheet. */
function useIsDark(): boolean {
  const system = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), []);
  const [isSystemDark, setSystemDark] = useState(system.matches);
  useEffect(() => {
    const follow = () => setSystemDark(system.matches);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  return theme.value === 'system' ? isSystemDark : theme.value === 'dark';
}
