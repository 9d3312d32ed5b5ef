import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import { createOpenApi } from '../../http/openapi.ts';
import { ROUTES } from '../../http/routes.ts';
import { fromField, type OpenApi, readSettings, type Setting, toField } from './settings.ts';

const document = createOpenApi(
  ROUTES.map(({ operation }) => operation),
  'https://sluice.test',
) as unknown as OpenApi;

describe('the settings of a queue', () => {
  const settings = readSettings(document);
  const get = (name: string) => settings.find((setting) => setting.name === name) as Setting;

  it('are read from the description of the API, each with its sentence', () => {
    assert.ok(settings.length > 20);
    assert.deepEqual(
      pluck(
        settings.filter(({ sentence }) => sentence === ''),
        'name',
      ),
      [],
    );
    assert.deepEqual(get('mode').choices, ['SINGLE', 'PARALLEL']);
    assert.deepEqual([get('concurrency').kind, get('concurrency').least], ['number', 1]);
    assert.deepEqual([get('bisectionConcurrency').isNullable, get('batch').kind], [true, 'flag']);
    assert.deepEqual([get('requiredStatuses').kind, get('requiredStatuses').isNullable], ['json', true]);
  });

  it('go into a form and come back', () => {
    const values: [string, unknown][] = [
      ['mode', 'PARALLEL'],
      ['concurrency', 7],
      ['bisectionConcurrency', null],
      ['batch', true],
      ['requiredStatuses', ['unit']],
      ['requiredStatuses', null],
      ['enqueueingLabel', 'land it'],
    ];
    for (const [name, value] of values) assert.deepEqual(fromField(get(name), toField(get(name), value)), value, name);
    assert.throws(() => fromField(get('concurrency'), 'many'), /must be a number/);
    assert.throws(() => fromField(get('freezes'), 'x'), /must be JSON/);
  });
});
