import type { Command } from 'commander';
import { addExamples } from '../core/arguments.ts';
import { defineActs } from './acts.ts';
import { defineCost } from './cost.ts';
import { defineEvents, defineRuns } from './history.ts';
import { defineList } from './list.ts';
import { defineMonitors } from './monitors.ts';
import { defineSettings } from './settings.ts';
import { defineShow } from './show.ts';
import { defineUploads } from './uploads.ts';

export function defineTests(tests: Command): void {
  addExamples(tests, [
    'sluice tests list',
    'sluice tests show "retries on a closed connection"',
    "sluice tests quarantine d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11 --reason 'See NET-12' --until 7d",
  ]);
  defineList(tests);
  defineCost(tests);
  defineShow(tests);
  defineActs(tests);
  defineRuns(tests);
  defineEvents(tests);
  defineUploads(tests);
  defineMonitors(tests);
  defineSettings(tests);
}
