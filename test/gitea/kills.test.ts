// Ten pull requests land while the server, and a real Gitea too, are killed again and again.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder, type ServerProcess, startServer } from '../e2e/harness.ts';
import { closePlace, connectionOf, GiteaWorld, type OpenRequest, startPlace } from './gitea-world.ts';

const PULL_REQUESTS = 10;
const KILLS = 6;

/** On the fake it would show what `npm run storm` shows. */
const skip = process.env['SLUICE_REAL_GITEA'] === undefined && 'needs a real Gitea: npm run test:gitea';

test('ten pull requests land exactly once through kills of Sluice and of Gitea', {
  skip,
  timeout: 280_000,
}, async (t) => {
  const dataFolder = await makeFolder();
  const place = await startPlace(startServer, { SLUICE_DATA: dataFolder });
  let server = place.server as ServerProcess;
  t.after(async () => {
    await closePlace({ ...place, server });
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  });
  const settings = { mode: 'single', concurrency: 4, mergeMethod: 'MERGE_COMMIT' };
  let queue = await GiteaWorld.create(place, 'app', { settings });
  const prs: OpenRequest[] = [];
  for (let count = 0; count < PULL_REQUESTS; count += 1) prs.push(await queue.open());
  for (const pr of prs) await queue.say(pr, '/sluice merge');
  queue.runCi(t);
  const { gitea } = place.people;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(400 + 350 * kill);
    if ('kill' in gitea && kill % 2 === 1) {
      await gitea.kill();
      await gitea.restart();
      continue;
    }
    server.child.kill('SIGKILL');
    await server.exited;
    const port = String(server.port);
    server = await startServer({
      ...(await connectionOf(place.people, place.proxy)),
      ...{ SLUICE_DATA: dataFolder, SLUICE_PORT: port },
    });
    queue = queue.through(server);
  }
  const landed = await queue.landedAll(prs);
  assert.deepEqual((await queue.line()).toSorted(), landed.toSorted(), 'each landed once, and nothing else did');
});
