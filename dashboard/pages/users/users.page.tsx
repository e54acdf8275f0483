import { useState } from 'preact/hooks';

import { getPortion, useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { KeysetTable } from '../../components/table.component.js';
import { goTo, hrefOf, type Route } from '../../shell/hash.router.js';
import { DELIVERY_COLUMNS } from '../deliveries/delivery-columns.component.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';
import { DeletionDialog } from './deletion.dialog.js';

const COLUMNS = DELIVERY_COLUMNS.filter(({ title }) => title !== 'User');

/** Deliveries of a user in the queue, and their deletion. */
export default function UsersPage({ route: { query } }: { route: Route }) {
  const userId = query.get('userId') ?? '';
  const [round, setRound] = useState(0);
  return (
    <>
      <PageHeading title="Users" />
      <UserForm key={userId} userId={userId} onSame={() => setRound(round + 1)} />
      {userId === '' ? (
        <EmptyState title="Whose data?">
          <p>Enter a user id to see the user's deliveries in the queue, and to delete the user's data.</p>
        </EmptyState>
      ) : (
        <UserView key={`${round} ${userId}`} userId={userId} />
      )}
    </>
  );
}

/** @param onSame called when the same user is submitted again */
function UserForm({ userId, onSame }: { userId: string; onSame: () => void }) {
  const [draft, setDraft] = useState(userId);
  const show = () => (draft === userId ? onSame() : goTo(hrefOf('users', { userId: draft })));
  return (
    <Form class="panel user-form" role="search" onSubmit={show}>
      <TextField label="User id" placeholder="the exact userId" value={draft} isRequired onValue={setDraft} />
      <Button type="submit" look="primary">
        Show
      </Button>
    </Form>
  );
}

function UserView({ userId }: { userId: string }) {
  const [isDeleting, setDeleting] = useState(false);
  const [deletion, setDeletion] = useState<{ id: string; sentence: string }>();
  // The search rather than `users/:userId`, because some ids cannot be part of a path.
  const list = useKeyset(
    (cursor, signal) => getPortion<DeliverySummary>('deliveries', { userId, cursor }, signal),
    userId,
  );
  return (
    <section class="form" aria-label="Deliveries of the user">
      <div class="page-heading spread">
        <h2>
          Deliveries of <bdi>{toPlainText(userId, 80)}</bdi>
        </h2>
        <Button look="danger" changes onClick={() => setDeleting(true)}>
          Delete the user's data…
        </Button>
      </div>
      <p role="status" class={deletion ? 'outcome' : 'visually-hidden'}>
        {deletion && (
          <>
            {deletion.sentence} <a href={hrefOf('activity', {}, deletion.id)}>Proof of the deletion</a>
          </>
        )}
      </p>
      <p>
        <a href={hrefOf('activity', { what: 'user.delete', userId })}>Deletions of this user's data</a>
      </p>
      <KeysetTable
        caption="Deliveries of the user, the newest first"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="The queue has no deliveries for this user.">
            <p>Finished deliveries are removed when their retention period ends.</p>
          </EmptyState>
        }
      />
      {isDeleting && (
        <DeletionDialog
          userId={userId}
          onClose={() => setDeleting(false)}
          onDeleted={(id, sentence) => {
            setDeleting(false);
            setDeletion({ id, sentence });
            list.reload();
          }}
        />
      )}
    </section>
  );
}
