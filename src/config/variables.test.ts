import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { renderConfigurationPage } from './variables.ts';

it('docs/configuration.md is what the table says; write it again with: npm run docs', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  assert.equal(page, renderConfigurationPage());
});
