import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import type { EntryOrigin } from '../../lib/webhook-destination/registry/registry-entry.interface.js';
import { Button } from './button.component.js';
import { EndOverlapDialog } from './end-overlap.dialog.js';
import { RemoveDialog } from './remove.dialog.js';
import { RotateDialog } from './rotate.dialog.js';
import type { EntryKind } from './secret-kinds.js';

export interface EntryActionsProps {
  kind: EntryKind;
  entry: { name: string; origin: EntryOrigin };
  rotateLabel: string;
  /** Time until which the secret before the current one is valid. */
  previousUntil: number | undefined;
  /** What the removal means for the entry's messages or deliveries. */
  removal: ComponentChildren;
  /** Another change of the entry is in progress. */
  isBusy?: boolean;
  /** Buttons for other actions. */
  children?: ComponentChildren;
  onChanged: () => void;
}

/** Buttons for the actions on a source or destination, with the dialogs for rotation and removal. */
export function EntryActions({
  kind,
  entry,
  rotateLabel,
  previousUntil,
  removal,
  isBusy,
  children,
  onChanged,
}: EntryActionsProps) {
  const { name } = entry;
  const [opened, setOpened] = useState<'rotate' | 'end' | 'remove'>();
  const close = () => setOpened(undefined);
  const fixed = whyFixed(entry);
  const shared = { changes: true, isBusy, disabledReason: fixed };
  return (
    <>
      <div class="actions">
        {children}
        <Button {...shared} onClick={() => setOpened('rotate')}>
          {rotateLabel}
        </Button>
        {previousUntil !== undefined && (
          <Button {...shared} look="danger" onClick={() => setOpened('end')}>
            End overlap…
          </Button>
        )}
        <Button {...shared} look="danger" onClick={() => setOpened('remove')}>
          Remove…
        </Button>
      </div>
      {fixed && <p class="hint">{fixed} It cannot be changed here.</p>}
      {opened === 'rotate' && (
        <RotateDialog
          kind={kind}
          name={name}
          overlaps={previousUntil !== undefined}
          onRotated={onChanged}
          onClose={close}
        />
      )}
      {opened === 'end' && <EndOverlapDialog kind={kind} name={name} onEnded={onChanged} onClose={close} />}
      {opened === 'remove' && (
        <RemoveDialog kind={kind} name={name} onClose={close}>
          {removal}
        </RemoveDialog>
      )}
    </>
  );
}

/** Returns why an entry cannot be changed; undefined if it can. */
export function whyFixed({ origin }: { origin: EntryOrigin }): string | undefined {
  if (origin === 'fixed') return "It is set in the application's code.";
  return origin === 'application' ? "It is in the application's own registry." : undefined;
}
