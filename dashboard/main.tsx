import { render } from 'preact';

import './styles/main.css';
import { restoreSession } from './shell/session.state.js';
import { App } from './shell/app.component.js';
import { applyTheme } from './shell/theme.state.js';

applyTheme();
render(<App />, document.getElementById('app')!);
void restoreSession();
