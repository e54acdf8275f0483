import type { ComponentChildren } from 'preact';

import type { Keyset } from '../api/keyset.hook.js';
import { Button } from './button.component.js';
import { Problem } from './problem.component.js';
import { Time } from './time.component.js';

export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Aligns the column to the right. */
  isNumber?: boolean;
}

export interface TableProps<T> {
  /** What the rows are, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
}

/** A table that scrolls sideways where it is too wide. The first cell of each row is its heading. */
export function Table<T>({ caption, columns, rows, keyOf }: TableProps<T>) {
  return (
    <div class="table-frame" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber }, index) => {
                const Cell = index === 0 ? 'th' : 'td';
                return (
                  <Cell key={title} scope={index === 0 ? 'row' : undefined} class={isNumber ? 'number' : undefined}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
  /** Number of what the list counts, if it only counts. */
  counted?: number;
}

/** Says how much of a list is loaded or counted, and goes on. */
export function KeysetEnd<T>({ list, counted }: KeysetEndProps<T>) {
  const { rows, isLoading, error, more, stop, reached } = list;
  const end = more ? '' : ' (all)';
  const shown =
    counted === undefined
      ? `${rows.length.toLocaleString()} shown${end}`
      : `${more ? 'at least ' : ''}${counted.toLocaleString()} counted${end}`;
  const moreText = counted === undefined ? 'More' : 'Continue counting';
  return (
    <div class="keyset-end">
      <p class="hint" role="status">
        {isLoading ? 'Loading…' : rows.length > 0 || (more && !error) ? shown : ''}
      </p>
      {reached !== undefined && (stop || more) && (
        <p class="hint">
          Searched back to <Time at={reached} />
        </p>
      )}
      {/* One button, so that the focus stays on it. */}
      {!error && (stop ?? more ?? rows.length > 0) && (isLoading || more) && (
        <Button onClick={stop ?? more} isBusy={isLoading && !stop}>
          {stop ? 'Stop' : isLoading ? 'Loading…' : rows.length > 0 ? moreText : 'Continue search'}
        </Button>
      )}
    </div>
  );
}
