// Shows bench/figures.json in a page. `<!-- figures: name -->` ... `<!-- /figures -->` holds a table with its origin;
// `<!-- figure: name / row / column -->` ... `<!-- /figure -->`, one cell of it within a sentence.
import { readFileSync } from 'node:fs';

const TABLE = /(<!-- figures: (\S+) -->)[^]*?(<!-- \/figures -->)/g;
const CELL = /(<!-- figure: (.+?) \/ (.+?) \/ (.+?) -->)[^]*?(<!-- \/figure -->)/g;

const figures = JSON.parse(readFileSync(new URL('../bench/figures.json', import.meta.url), 'utf8'));

/** @param {(fault: string) => void} report gets what the page names that the file does not have */
export function withFigures(markdown, report) {
  return markdown
    .replaceAll(TABLE, (all, begin, name, end) => {
      const figure = figures[name];
      if (figure) return [begin, '', ...toLines(figure), '', end].join('\n');
      report(`bench/figures.json has no ${name}`);
      return all;
    })
    .replaceAll(CELL, (all, begin, name, row, column, end) => {
      const { head, rows } = figures[name] ?? { head: [], rows: [] };
      const cell = rows.find(([label]) => label === row)?.[head.indexOf(column)];
      if (cell) return `${begin}${cell}${end}`;
      report(`bench/figures.json has no ${name} / ${row} / ${column}`);
      return all;
    });
}

function toLines({ title, command, date, machine, commit, note, head, rows }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const origin = `${date}, ${machine}, commit ${commit}${note ? ` (${note})` : ''}`;
  return [`_${title}_: \`${command}\`, ${origin}`, '', line(head), line(head.map(() => '---')), ...rows.map(line)];
}
