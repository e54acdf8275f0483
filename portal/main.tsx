import { render } from 'preact';

import './styles/portal.css';
import { App } from './shell/app.component.js';
import { followFrame } from './shell/frame.js';
import { followLinks } from './shell/link.state.js';
import { locale } from './words/words.js';

document.documentElement.lang = locale;
followLinks();
followFrame();
render(<App />, document.getElementById('app')!);
