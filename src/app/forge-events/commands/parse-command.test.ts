import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Command, parseCommand } from './parse-command.ts';

const PLAIN = { kind: 'merge', priority: undefined, noBatch: undefined };

function read(body: string): Command | undefined {
  return parseCommand(body)?.command;
}

function priorityOf(body: string): number | undefined {
  const command = read(body);
  return command?.kind === 'merge' ? command.priority?.value : undefined;
}

describe('the parser of commands', () => {
  it('takes the first line that begins with one [G50]', () => {
    for (const body of [
      '/sluice merge',
      '/trunk merge',
      '/Sluice Merge',
      'Looks good!\n\n/sluice merge\nThanks',
      'Looks good!\r\n/sluice merge\r\n/sluice cancel',
      '/sluice   merge  ',
      '- a list\n\n/sluice merge',
    ]) {
      assert.deepEqual(read(body), PLAIN, JSON.stringify(body));
    }
    assert.deepEqual(read('/sluice cancel\n/sluice merge'), { kind: 'cancel' });
    assert.deepEqual(read('/trunk restart'), { kind: 'restart' });
    assert.deepEqual(read('/sluice help'), { kind: 'help' });
  });

  it('passes over code, quotes, HTML and lines that begin otherwise [G50]', () => {
    for (const body of [
      '',
      'merge',
      'please /sluice merge',
      ' /sluice merge',
      '\\/sluice merge',
      '/sluicer merge',
      '//sluice merge',
      '> /sluice merge',
      '> He said\n/sluice merge',
      '    /sluice merge',
      '\t/sluice merge',
      '```\n/sluice merge\n```',
      '````\n```\n/sluice merge\n````',
      '~~~ sh\n/sluice merge',
      '```\n/sluice merge\n~~~\n/sluice merge',
      '- ```\n  /sluice merge\n  ```',
      '1. one\n   ```\n/sluice merge\n   ```',
      '`a\n/sluice merge\nb`',
      '``a ` b\n/sluice merge\nb``',
      '<!-- \n/sluice merge\n-->',
      'text <!-- hidden\n/sluice merge\n--> text',
      '<pre>\n/sluice merge\n</pre>',
      '<PRE><code>\n/sluice merge\n</code></PRE>',
      '/trunk stack-fix',
      '/trunk',
    ]) {
      assert.equal(read(body), undefined, JSON.stringify(body));
    }
  });

  it('goes on after code, quotes and HTML have ended [G50]', () => {
    for (const body of [
      '> quoted\n\n/sluice merge',
      '```\ncode\n```\n/sluice merge',
      '- ```\n  code\n  ```\n\n/sluice merge',
      '- ```\n  code\n\n/sluice merge',
      '<!-- hidden -->\n/sluice merge',
      '<!--\n-->\n/sluice merge',
      '<pre>x</pre>\n/sluice merge',
      'one ` two\n/sluice merge',
      '`one` two\n/sluice merge',
      '\\`one\n/sluice merge\n\\`',
    ]) {
      assert.deepEqual(read(body), PLAIN, JSON.stringify(body));
    }
  });

  it('reads --repair [G135] [V17]', () => {
    assert.equal((read('/sluice merge --repair') as Extract<Command, { kind: 'merge' }>).repair, true);
    assert.equal((read('/sluice merge') as Extract<Command, { kind: 'merge' }>).repair, undefined);
  });

  it('reads priority and --no-batch, in any order [G135]', () => {
    assert.equal(priorityOf('/sluice merge -p high'), 10);
    assert.equal(priorityOf('/sluice merge --priority URGENT'), 0);
    assert.equal(priorityOf('/sluice merge --priority=200'), 200);
    assert.equal(priorityOf('/sluice merge -p=7'), 7);
    const both = read('/trunk merge --no-batch -p low') as Extract<Command, { kind: 'merge' }>;
    assert.deepEqual([both.priority?.value, both.noBatch], [200, true]);
  });

  it('passes over what stands in a quote of a list, or in a tag that is not shown [G50]', () => {
    const hidden = [
      '- > They said:\n/sluice merge',
      '1. > They said:\n/sluice merge',
      '* - > They said\nsomething\n/sluice merge',
      'See <a title="\n/sluice merge\n">this</a>',
      '<img alt="x\n/sluice merge -p urgent" src="y">',
      '</div\n/sluice merge\n>',
    ];
    for (const body of hidden) assert.equal(read(body), undefined, body);
    const shown = [
      'a <b\n\n/sluice merge',
      'a < b\n/sluice merge',
      '- > They said\n\n/sluice merge',
      '<b>x</b>\n/sluice merge',
    ];
    for (const body of shown) assert.equal(read(body)?.kind, 'merge', body);
  });

  it('names the word that is not understood, and runs no command then [G51]', () => {
    const cases: [string, string, string][] = [
      ['/sluice', 'unknown_command', ''],
      ['/sluice dance', 'unknown_command', 'dance'],
      ['/sluice merge now', 'unknown_flag', 'now'],
      ['/sluice merge --no-bacth', 'unknown_flag', '--no-bacth'],
      ['/sluice merge --no-batch=yes', 'unknown_flag', '--no-batch=yes'],
      ['/sluice merge -p', 'no_priority', '-p'],
      ['/sluice merge --priority=', 'no_priority', '--priority'],
      ['/sluice merge -p huge', 'bad_priority', 'huge'],
      ['/sluice merge -p 256', 'bad_priority', '256'],
      ['/sluice merge -p 1 -p 2', 'given_twice', '-p'],
      ['/sluice merge --direct', 'direct_not_supported', '--direct'],
      ['/trunk merge --force -p high', 'direct_not_supported', '--force'],
      ['/sluice cancel --all', 'unknown_flag', '--all'],
    ];
    for (const [body, problem, part] of cases) {
      assert.deepEqual(read(body), { kind: 'unclear', problem, part }, body);
    }
  });

  it('reads 60,000 characters of anything in no time, and never fails [G50]', () => {
    const hard = [
      '`',
      '``` ',
      '> ',
      '<!--',
      '<pre',
      '<a',
      '- >',
      '- ',
      '\n',
      ' ',
      '/sluice',
      '/sluice merge -p ',
      '~~~\n',
      '1. ',
      '\\',
    ];
    for (const piece of hard) read(`/sluice\n${piece.repeat(60_000 / piece.length)}\n/sluice merge`);
    for (const piece of hard) read(`x\n${`${piece}\n`.repeat(60_000 / (piece.length + 1))}/sluice merge`);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...hard, '/sluice merge\n'), fc.string()), { maxLength: 60 }),
        (all) => {
          const command = read(all.join(''));
          assert.ok(command === undefined || typeof command.kind === 'string');
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
