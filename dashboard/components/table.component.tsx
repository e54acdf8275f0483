import { Component, type ComponentChildren } from 'preact';

import type { Keyset } from '../api/keyset.hook.js';
import { Button } from './button.component.js';
import { countOf } from './count.util.js';
import { Problem } from './problem.component.js';
import { Time } from './time.component.js';

export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Aligns the column to the right. */
  isNumber?: boolean;
  /** Class of its cells. */
  look?: string;
}

export interface TableProps<T> {
  /** What the rows are, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Class of the table's frame. */
  look?: string;
}

/**
 * A table that scrolls sideways where it is too wide; in a narrow window, each row is a card. The first cell of a row is
 * its heading.
 */
export function Table<T>({ caption, columns, rows, keyOf, look = '' }: TableProps<T>) {
  return (
    <div class={`table-frame ${look}`} role="region" aria-label={caption} tabIndex={0}>
      {/* With roles, because cards are not laid out as a table. */}
      <table role="table" onMouseOver={titleCutCell}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <Row key={keyOf(row)} row={row} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A cell that is narrower than its text has it as its title as well. */
function titleCutCell({ target }: Event): void {
  const cell = (target as Element).closest<HTMLElement>('.cell, tbody th');
  if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.textContent : '';
}

interface RowProps<T> extends Pick<TableProps<T>, 'columns'> {
  row: T;
}

/** Rendered again only for other data or columns: a list of live events has hundreds of rows. */
class Row<T> extends Component<RowProps<T>> {
  override shouldComponentUpdate({ row, columns }: RowProps<T>): boolean {
    return row !== this.props.row || columns !== this.props.columns;
  }

  override render() {
    const { row, columns } = this.props;
    return (
      <tr role="row">
        {columns.map((column, index) => {
          const content = column.cell(row);
          return index === 0 ? (
            <th key={column.title} scope="row" role="rowheader" class={classOf(column)}>
              {content}
            </th>
          ) : (
            <td key={column.title} role="cell" class={classOf(column)} data-title={column.title}>
              <div class="cell">{content}</div>
            </td>
          );
        })}
      </tr>
    );
  }
}

function classOf({ isNumber, look }: Column<never>): string | undefined {
  return isNumber ? 'number' : look;
}

export interface KeysetTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  list: Keyset<T>;
  /** Shown in place of an empty list. */
  empty: ComponentChildren;
}

/** A table of a list of the API, loaded page by page. */
export function KeysetTable<T>({ list, empty, ...table }: KeysetTableProps<T>) {
  const { rows, isLoading, error, more, reload } = list;
  return (
    <div class="keyset" aria-busy={isLoading}>
      {rows.length > 0 && <Table {...table} rows={rows} />}
      {rows.length === 0 && !isLoading && !error && !more && empty}
      <Problem error={error} onRetry={rows.length > 0 ? more : reload} />
      <KeysetEnd list={list} />
    </div>
  );
}

export interface KeysetEndProps<T> {
  list: Keyset<T>;
  /** Number of deliveries that the list counts, if it only counts. */
  counted?: number;
}

/** Says how much of a list is loaded or counted, and goes on. */
export function KeysetEnd<T>({ list, counted }: KeysetEndProps<T>) {
  const { rows, isLoading, error, more, stop, reached, readAt, reload } = list;
  const end = more ? '' : ' (all)';
  const shown =
    counted === undefined
      ? `${rows.length.toLocaleString()} shown${end}`
      : `${more ? 'at least ' : ''}${countOf(counted, 'delivery', 'deliveries')} counted${end}`;
  const moreText = counted === undefined ? 'More' : 'Continue counting';
  return (
    <div class="keyset-end">
      <p class="hint" role="status">
        {isLoading ? 'Loading…' : (counted ?? rows.length) > 0 || (more && !error) ? shown : ''}
      </p>
      {reached !== undefined && (stop || more) && (
        <p class="hint">
          Searched back to <Time at={reached} />
        </p>
      )}
      {readAt !== undefined && (
        <p class="hint">
          Read at <Time at={readAt} look="time" />
        </p>
      )}
      {readAt !== undefined && !isLoading && <Button onClick={reload}>Read again</Button>}
      {/* One button, so that the focus stays on it. */}
      {!error && (stop ?? more ?? rows.length > 0) && (isLoading || more) && (
        <Button onClick={stop ?? more} isBusy={isLoading && !stop}>
          {stop ? 'Stop' : isLoading ? 'Loading…' : rows.length > 0 ? moreText : 'Continue search'}
        </Button>
      )}
    </div>
  );
}
