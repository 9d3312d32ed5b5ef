import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDatabase } from '../helpers/postgres.ts';
import type { StormOptions } from '../storm/scene.ts';
import { runStorm } from '../storm/storm.ts';

/** Small storms; `npm run storm -- --kills 200` is a large one. The seed fixes choices, not timing: every run is still another storm. */
const SEED = process.env['STORM_SEED'] ?? 'npm test';

async function assertNothingLost(
  options: Pick<StormOptions, 'kills' | 'prs' | 'databaseUrl' | 'isUpgrade'>,
): Promise<void> {
  const lines: string[] = [];
  const report = await runStorm({ ...options, seed: SEED, onProgress: (text) => lines.push(text) });
  const story = `STORM_SEED=${JSON.stringify(SEED)}\n${lines.join('\n')}`;
  assert.deepEqual(report.violations, [], `${report.violations.join('\n')}\n\n${story}`);
}

describe('a storm', () => {
  it('[L1] [R7] loses nothing when the server is killed 3 times while 12 pull requests land', () =>
    assertNothingLost({ kills: 3, prs: 12, databaseUrl: undefined }));

  it('[D37] [D38] [L1] [X3] [X23] loses nothing and fails no request when two servers are killed or replaced while CI reports', async () => {
    await assertNothingLost({ kills: 3, prs: 8, databaseUrl: await createDatabase(), isUpgrade: true });
  });
});
