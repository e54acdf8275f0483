import { Button } from '../../components/button.component.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { toReasonText } from '../../components/reason-classes.js';
import { Table } from '../../components/table.component.js';
import { TimeAndAge } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { DeliveryFilter } from '../deliveries/delivery-filter.js';
import { type DeadGroup, keyOfGroup } from './dead-groups.js';

/** Maximum number of answers shown per group. */
const MAX_ANSWERS = 3;

export interface GroupTableProps {
  groups: DeadGroup[];
  /** Whether there may be more deliveries than were counted. */
  isPart: boolean;
  /** Filter that all groups share. */
  filter: DeliveryFilter;
  onReplay: (filter: DeliveryFilter) => void;
}

/** Groups of dead deliveries, each with a button to replay it. */
export function GroupTable({ groups, isPart, filter, onReplay }: GroupTableProps) {
  const filterOf = ({ destination, reason }: DeadGroup) => ({ ...filter, destination, reason });
  return (
    <Table
      caption="Dead deliveries by destination and reason"
      rows={groups}
      keyOf={keyOfGroup}
      columns={[
        { title: 'Destination', cell: ({ destination }) => <NameLink of="destinations" name={destination} /> },
        { title: 'Reason', cell: ({ reason }) => <PlainText value={toReasonText(reason)} max={200} /> },
        {
          title: 'Deliveries',
          isNumber: true,
          cell: (group) => (
            <a href={hrefOf('deliveries', { ...filterOf(group), state: 'dead' })}>
              {isPart && 'at least '}
              {group.count.toLocaleString()}
            </a>
          ),
        },
        { title: 'Last answers', cell: ({ answers }) => <Answers answers={answers} isPart={isPart} /> },
        { title: 'Newest', cell: ({ newest }) => <TimeAndAge at={newest} /> },
        { title: 'Oldest', cell: ({ oldest }) => <TimeAndAge at={oldest} /> },
        {
          title: 'Action',
          cell: (group) => (
            <Button
              changes
              label={`Replay deliveries to ${toPlainText(group.destination, 60)}: ${toPlainText(toReasonText(group.reason))}`}
              onClick={() => onReplay(filterOf(group))}
            >
              Replay…
            </Button>
          ),
        },
      ]}
    />
  );
}

function Answers({ answers, isPart }: { answers: DeadGroup['answers']; isPart: boolean }) {
  const sorted = [...answers].sort(([, a], [, b]) => b - a);
  return (
    <>
      {sorted.slice(0, MAX_ANSWERS).map(([answer, count]) => (
        <div key={answer}>
          <PlainText value={answer} max={80} />{' '}
          <span class="muted">
            × {isPart && 'at least '}
            {count.toLocaleString()}
          </span>
        </div>
      ))}
      {sorted.length > MAX_ANSWERS && <div class="muted">and {sorted.length - MAX_ANSWERS} others</div>}
    </>
  );
}
