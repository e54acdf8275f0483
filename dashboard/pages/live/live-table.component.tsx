import { Component } from 'preact';

import type { LiveKind } from '../../api/live.stream.js';
import { PlainText } from '../../components/plain-text.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { toDetails } from './live-details.util.js';
import type { LiveRow } from './live.ring.js';

/** Columns, with the class of each. */
const COLUMNS = [
  ['Time', 'time'],
  ['Kind', 'kind'],
  ['Source', 'name'],
  ['Destination', 'name'],
  ['Event', 'name'],
  ['User', 'name'],
  ['Message', 'name'],
  ['Details', 'details'],
] as const;

/** Names of the kinds that are shown by another one. */
const LABELS: Partial<Record<LiveKind, string>> = { message: 'accepted', duplicate: 'repeated' };

/** Table of events, newest first. */
export function LiveTable({ rows }: { rows: LiveRow[] }) {
  return (
    <div class="table-frame live-table" role="region" aria-label="Live events" tabIndex={0}>
      <table>
        <caption class="visually-hidden">Live events, the newest first</caption>
        <thead>
          <tr>
            {COLUMNS.map(([title, look]) => (
              <th key={title} scope="col" class={look}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** An event never changes, so its row is rendered once. */
class Row extends Component<{ row: LiveRow }> {
  override shouldComponentUpdate(): boolean {
    return false;
  }

  override render() {
    const { event } = this.props.row;
    const { kind, at, source, destination, destinations = [], repeated = [], messageId, userId } = event;
    const details = toDetails(event);
    const names = [...destinations, ...repeated];
    const name = destination ?? (names.length === 1 ? names[0] : undefined);
    return (
      <tr>
        <td>
          <Time at={at} look="time" />
        </td>
        <td>
          <StateBadge state={kind} label={LABELS[kind] ?? kind} />
        </td>
        <td>
          <PlainText value={source} max={80} />
        </td>
        <td>
          <PlainText value={name} max={80} />
        </td>
        <td>
          <PlainText value={event.event ?? event.type} max={80} />
        </td>
        <td>
          <PlainText value={userId} max={80} href={hrefOf('users', { userId })} />
        </td>
        <td>
          <PlainText value={messageId} max={80} href={hrefOf('deliveries', { messageId })} />
        </td>
        <td title={toPlainText(details)}>
          <PlainText value={details} max={160} />
        </td>
      </tr>
    );
  }
}
