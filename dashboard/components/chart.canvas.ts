// The only file that imports uPlot, so uPlot is loaded with the first chart.
import uPlot from 'uplot';

import type { ChartData, ChartLine } from './chart.component.js';

const HEIGHT = 200;

const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** A drawn chart. */
export interface DrawnChart {
  setData(data: ChartData): void;
  remove(): void;
}

/** Draws lines over time, in the colours of the current theme. The chart is as wide as the element. */
export function drawChart(
  element: HTMLElement,
  lines: ChartLine[],
  format: (value: number) => string,
  data: ChartData,
): DrawnChart {
  const toText = (value: number | null) => (value === null ? '–' : format(value));
  const axis = { stroke: () => colourOf(element, '--muted'), font: '12px system-ui, sans-serif' };
  const rule = { stroke: () => colourOf(element, '--line'), width: 1 };
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      cursor: { y: false },
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, 4)] } },
      axes: [
        { ...axis, grid: { show: false }, ticks: rule, space: 56, values: (_plot, times) => times.map(toTime) },
        {
          ...axis,
          size: (_plot, texts) => Math.max(56, 16 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length))),
          grid: rule,
          ticks: { show: false },
          values: (_plot, values) => values.map(toText),
        },
      ],
      series: [
        { label: 'Time', value: (_plot, time: number | null) => (time === null ? '' : toTime(time)) },
        ...lines.map(({ label, colour, dash, hasGaps = false }) => ({
          label,
          stroke: () => colourOf(element, colour),
          width: 1.5,
          ...(dash && { dash }),
          points: { show: hasGaps, size: 5, filter: lonelyPoints },
          value: (_plot: uPlot, value: number | null, _line: number, index: number | null) =>
            index === null ? '' : toText(value),
        })),
      ],
    },
    data,
    element,
  );
  const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  observer.observe(element);
  return {
    setData: (next) => plot.setData(next),
    remove() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

/** Returns the indices of values between two gaps, which have no line. */
function lonelyPoints({ data }: uPlot, line: number): number[] {
  const values = data[line]!;
  return [...values.keys()].filter((index) => {
    return values[index] != null && values[index - 1] == null && values[index + 1] == null;
  });
}

/** @param time in s, the unit of uPlot */
function toTime(time: number): string {
  return TIME.format(time * 1_000);
}

/** Returns a colour of the theme in a form that the canvas understands. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}
