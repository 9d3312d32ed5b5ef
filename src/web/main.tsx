import { render } from 'preact';
import { App } from './app.tsx';
import { runClock } from './core/clock.ts';
import { followLinks } from './core/location.ts';
import { applyTheme } from './core/theme.ts';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';
import './style/records.css';
import './style/tests.css';

applyTheme();
followLinks();
runClock();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
