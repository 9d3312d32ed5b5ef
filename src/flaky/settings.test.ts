import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultMonitors, findTicketUrl, isTicketTemplate } from './settings.ts';

it('the default monitors of a repository are the same each time they are made', () => {
  const monitors = defaultMonitors('repository-1', 7);
  assert.deepEqual(monitors, defaultMonitors('repository-1', 7));
  assert.equal(new Set(monitors.map(({ id }) => id)).size, 5);
  const others = new Set(defaultMonitors('repository-2', 7).map(({ id }) => id));
  assert.equal(
    monitors.some(({ id }) => others.has(id)),
    false,
  );
});

const TEMPLATE = 'https://acme.test/browse/{key}';

describe('the address of a ticket', () => {
  for (const [ticket, template, expected] of [
    ['https://tickets.test/1?a=b#c', null, 'https://tickets.test/1?a=b#c'],
    ['HTTP://tickets.test/1', null, 'HTTP://tickets.test/1'],
    ['KAN-123', TEMPLATE, 'https://acme.test/browse/KAN-123'],
    ['acme/app#7', TEMPLATE, 'https://acme.test/browse/acme%2Fapp%237'],
    ['KAN-123', null, undefined],
    ['ftp://tickets.test/1', TEMPLATE, undefined],
    ['javascript:alert(1)', TEMPLATE, undefined],
    ['https://', TEMPLATE, undefined],
    ['https://user:secret@tickets.test/1', TEMPLATE, undefined],
    ['https://tickets.test/a b', TEMPLATE, undefined],
    ['https://tickets.test/"onload', TEMPLATE, undefined],
    ['', TEMPLATE, undefined],
  ] as const) {
    it(`is found for ${ticket} ${template === null ? 'without' : 'with'} a template, or refused [F26]`, () => {
      assert.equal(findTicketUrl(ticket, template), expected);
    });
  }

  it('is made from a template that is an address with a place for the key', () => {
    const good = [TEMPLATE, 'http://t.test/?q={key}', 'https://{key}.tickets.test/'];
    const bad = [
      'https://acme.test/',
      '{key}',
      'javascript:{key}',
      'https://acme.test/ {key}',
      'https://u:p@a.test/{key}',
    ];
    assert.deepEqual([good.every(isTicketTemplate), bad.some(isTicketTemplate)], [true, false]);
  });
});
