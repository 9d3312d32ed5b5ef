import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseRepositoryUrl } from './repository-url.ts';

const CASES: [string, [string, string, string] | undefined][] = [
  ['https://github.com/acme/widgets.git', ['github.com', 'acme', 'widgets']],
  ['https://user:secret@github.com/acme/widgets', ['github.com', 'acme', 'widgets']],
  ['git@github.com:acme/widgets.git', ['github.com', 'acme', 'widgets']],
  ['ssh://git@github.com/acme/widgets.git/', ['github.com', 'acme', 'widgets']],
  ['https://gitlab.example.com:8443/group/sub/widgets.git', ['gitlab.example.com:8443', 'group/sub', 'widgets']],
  ['git@gitlab.example.com:group/sub/widgets', ['gitlab.example.com', 'group/sub', 'widgets']],
  ['git://host/o/n', ['host', 'o', 'n']],
  ['ftps://host/o/n//', ['host', 'o', 'n']],
  ['/srv/git/widgets.git', undefined],
  ['file:///srv/git/widgets.git', undefined],
  ['../widgets', undefined],
  ['github.com:acme/widgets', undefined],
  ['https://github.com/widgets', undefined],
  ['https:///acme/widgets', undefined],
  ['https://github.com/acme/.git', undefined],
  ['', undefined],
];

for (const [url, expected] of CASES) {
  it(`the address ${url || 'nothing'} is read as ${expected?.join(' ') ?? 'no repository'} [U13]`, () => {
    const found = parseRepositoryUrl(url);
    assert.deepEqual(found === undefined ? undefined : [found.host, found.owner, found.name], expected);
  });
}

it('an arbitrary address is read without a throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a:/@.git ?#\\'), maxLength: 30 }), (url) => {
      const found = parseRepositoryUrl(url);
      assert.ok(found === undefined || (found.host !== '' && found.owner !== '' && found.name !== ''));
    }),
  );
});
