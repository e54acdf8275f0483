// Imported by the processes that tests start.
import { register } from 'node:module';

register('./resolve.mjs', import.meta.url);
