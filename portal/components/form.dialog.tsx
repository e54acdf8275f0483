import { formParts } from '../../dashboard/components/form.parts.js';
import { words } from '../words/words.js';
import { Button } from './button.component.js';
import { Dialog } from './dialog.component.js';
import { Problem } from './problem.component.js';

export const { ChangeActions, FormDialog } = formParts({ Button, Dialog, Problem, ...words.actions });
