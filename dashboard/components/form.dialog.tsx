import { Button } from './button.component.js';
import { Dialog } from './dialog.component.js';
import { formParts } from './form.parts.js';
import { Problem } from './problem.component.js';

const words = { cancel: 'Cancel', busy: 'A request is in progress.' };

export const { ChangeActions, FormDialog } = formParts({ Button, Dialog, Problem, ...words });
