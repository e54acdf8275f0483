import { Table } from '../../components/table.component.js';

/** Number of refusals by code, most frequent first. */
export function Refusals({ caption, refused }: { caption: string; refused: Record<string, number> }) {
  const rows = Object.entries(refused).sort(([, one], [, other]) => other - one);
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={([code]) => code}
      columns={[
        { title: 'Code', cell: ([code]) => <code>{code}</code> },
        { title: 'Refused', isNumber: true, cell: ([, count]) => count.toLocaleString() },
      ]}
    />
  );
}
