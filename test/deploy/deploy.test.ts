// The files in deploy/ name variables, paths and the version as the server does. `npm run check:deploy` tries them with their tools.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { VARIABLES } from '../../src/config/variables.ts';
import { ROOT, readPage } from '../helpers/doc-pages.ts';

const { version } = JSON.parse(readPage('package.json'));
const files = globSync('deploy/{systemd,container,compose,helm}/**/*.*', { cwd: ROOT, exclude: ['**/*.schema.json'] });
const containerfile = readPage('deploy/container/Containerfile');
const compose = parse(readPage('deploy/compose/compose.yaml')).services.sluice;
const values = parse(readPage('deploy/helm/sluice/values.yaml'));
const statefulSet = readPage('deploy/helm/sluice/templates/statefulset.yaml');
/** SLUICE_IMAGE is read by the compose file itself. */
const known = new Set([...Object.keys(VARIABLES), 'SLUICE_IMAGE']);

describe('the files in deploy', () => {
  for (const file of [...files, 'deploy/container/Containerfile']) {
    test(`${file} names only variables that exist`, () => {
      const named = [...readPage(file).matchAll(/\bSLUICE_[A-Z_]+\b/g)].map(([name]) => name);
      assert.deepEqual(
        named.filter((name) => !known.has(name)),
        [],
      );
    });
  }

  test('of the chart have the version of package.json', () => {
    const { version: chart, appVersion } = parse(readPage('deploy/helm/sluice/Chart.yaml'));
    assert.deepEqual([chart, appVersion], [version, version]);
  });

  test('agree on the user, the port and the data folder', () => {
    const [, user] = /^USER (\d+):\1$/m.exec(containerfile) ?? assert.fail('the image has no numbered user');
    for (const field of ['runAsUser', 'runAsGroup', 'fsGroup']) {
      assert.match(statefulSet, new RegExp(`^ +${field}: ${user}$`, 'm'));
    }
    assert.match(containerfile, /SLUICE_PORT=8080[\s\S]*SLUICE_DATA=\/data[\s\S]*^EXPOSE 8080$/m);
    assert.match(statefulSet, /containerPort: 8080/);
    assert.match(statefulSet, /mountPath: \/data\n/);
    assert.deepEqual([compose.volumes, compose.read_only, compose.tmpfs], [['data:/data'], true, ['/tmp']]);
  });

  test('ask the paths of health and of readiness', () => {
    const paths = [...statefulSet.matchAll(/(\w+)Probe:\n +httpGet:\n +path: (\S+)/g)].map(([, probe, path]) => [
      probe,
      path,
    ]);
    assert.deepEqual(paths, [
      ['startup', '/healthz'],
      ['liveness', '/healthz'],
      ['readiness', '/readyz'],
    ]);
    assert.match(containerfile, /^HEALTHCHECK [\s\S]*\/healthz`/m);
  });

  test('leave a server the time to stop after its drain', () => {
    const [, periodSeconds, failures] =
      /readinessProbe:[\s\S]*?periodSeconds: (\d+)[\s\S]*?failureThreshold: (\d+)/.exec(statefulSet) ?? [];
    assert.ok(values.config.SLUICE_DRAIN > Number(periodSeconds) * Number(failures));
    assert.ok(values.terminationGracePeriodSeconds >= values.config.SLUICE_DRAIN + 10);
    assert.match(compose.environment.SLUICE_DRAIN, /:-0\}$/);
  });

  test('have two servers, of which one may be away, and no runner', () => {
    assert.equal(values.replicaCount, 2);
    assert.deepEqual(values.podDisruptionBudget, { enabled: true, minAvailable: 1 });
    assert.equal(values.runner.enabled, false);
    assert.equal(compose.environment.SLUICE_RUNNER_PROTECTION, 'none');
  });

  test('of the chart take every variable that is no secret (npm run docs)', async () => {
    const { renderChartSchema } = await import(new URL('../../scripts/lib/chart-schema.mjs', import.meta.url).href);
    assert.equal(readPage('deploy/helm/sluice/values.schema.json'), renderChartSchema());
  });

  test('of the chart use every value, and have it in the schema', () => {
    const { properties } = JSON.parse(readPage('deploy/helm/sluice/values.schema.json'));
    assert.deepEqual(
      Object.keys(values).sort(),
      Object.keys(properties)
        .filter((name) => name !== 'global')
        .sort(),
    );
    const templates = globSync('deploy/helm/sluice/templates/*', { cwd: ROOT }).map(readPage).join('');
    for (const name of Object.keys(values)) assert.ok(templates.includes(`.Values.${name}`), name);
  });
});
