import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Type } from 'typebox';
import { ERRORS } from '../contract/errors.ts';
import { operationsOf } from '../contract/operation.ts';
import { renderApiPage } from './api-page.ts';
import { createOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';

const OPERATIONS = ROUTES.map((route) => route.operation);
const PAGE = renderApiPage(createOpenApi(OPERATIONS, 'https://sluice.example'));

describe('the documentation page', () => {
  test('has every operation, with its address, scope and a command that calls it', () => {
    for (const { name, path, method } of OPERATIONS) {
      assert.ok(PAGE.includes(`<article id="${name}"`), name);
      assert.ok(PAGE.includes(`href="#${name}"`), `${name} is not in the navigation`);
      assert.ok(PAGE.includes(`<code>/v1${path}</code>`), path);
      assert.ok(
        PAGE.includes(`curl ${method === 'GET' ? '-sSG' : '-sS'} https://sluice.example/v1${path} `),
        `${name}: curl`,
      );
    }
  });

  test('has every error code where problem documents link to', () => {
    for (const code of Object.keys(ERRORS)) assert.ok(PAGE.includes(`<article id="${code}"`), code);
  });

  test('has no id twice, and no link to an id that is not there', () => {
    const ids = [...PAGE.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id as string);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, target] of PAGE.matchAll(/ href="#([^"]*)"/g)) assert.ok(ids.includes(target as string), target);
  });

  test('closes every element it opens', () => {
    const open: string[] = [];
    for (const [, slash, name] of PAGE.replace('<!doctype html>', '').matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (name === 'meta' || name === 'input') continue;
      if (slash === '') open.push(name as string);
      else assert.equal(open.pop(), name);
    }
    assert.deepEqual(open, []);
  });

  test('needs nothing that its content security policy forbids', () => {
    assert.doesNotMatch(PAGE, /<script|<img|<link|<iframe|<form|@import|url\(| on\w+=| src=/);
  });

  test('escapes every text of the document', () => {
    const evil = `<script>alert("1")</script>'&amp;`;
    const hostile = operationsOf('Operations')('evil', {
      scope: 'read',
      summary: evil,
      description: `${evil} \`${evil}\``,
      body: Type.Object({ [evil]: Type.String({ description: evil, default: evil }) }),
      reply: Type.Object({ choice: Type.Unsafe<string>({ type: 'string', enum: [evil], description: evil }) }),
      errors: [],
      example: { body: { [evil]: evil }, reply: { choice: evil } },
    });
    const page = renderApiPage(createOpenApi([hostile], `https://${evil}`));
    assert.doesNotMatch(page, /<script/);
    assert.ok(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;amp;'));
    assert.ok(page.includes('&#39;\\&#39;&#39;'), 'a quote inside a quoted argument of the shell');
  });

  test('shows what a field may be', () => {
    const [, queue = ''] = /<article id="type-CreateQueueRequest"([\s\S]*?)<\/article>/.exec(PAGE) ?? [];
    const [, concurrency = ''] = /<code>concurrency<\/code>([\s\S]*?)<\/li>/.exec(queue) ?? [];
    assert.match(concurrency, /integer, 1 to 1000, default 5, may be absent/);
    const [, mode = ''] = /<code>mode<\/code> <a href="#([^"]*)"/.exec(queue) ?? [];
    const [, modes = ''] = new RegExp(`<article id="${mode}"([\\s\\S]*?)</article>`).exec(PAGE) ?? [];
    assert.deepEqual(
      [...modes.matchAll(/<code>(\w+)</g)].map(([, value]) => value),
      ['SINGLE', 'PARALLEL'],
    );
  });
});
