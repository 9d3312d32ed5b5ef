import type { Row } from '../core/command.ts';
import { flag, label, mute, quarantine, ticket } from './acts.ts';
import { cost } from './cost.ts';
import { events, runs } from './history.ts';
import { list } from './list.ts';
import { MONITORS } from './monitors.ts';
import { SETTINGS } from './settings.ts';
import { show } from './show.ts';
import { UPLOADS } from './uploads.ts';

// SPEC W8
export const TESTS: Row = {
  examples: [
    'sluice tests list',
    'sluice tests show "retries on a closed connection"',
    "sluice tests quarantine d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11 --reason 'See NET-12' --until 7d",
  ],
  rows: {
    ...{ list, cost, show, quarantine, flag, mute, label, ticket, runs, events },
    ...{ uploads: UPLOADS, monitors: MONITORS, settings: SETTINGS },
  },
};
