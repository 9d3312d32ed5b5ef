import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogText } from './logs.ts';
import { formatLogCommand } from './pr/format-entry.ts';

function show(...parts: string[]): string {
  const text = createLogText();
  return parts.map((part) => text.add(part)).join('') + text.end();
}

describe('the log of a check on a terminal [W3]', () => {
  it('keeps colours, tabs and lines, and ends them', () => {
    assert.equal(show('\u001b[31;1mred\u001b[0m\tx\r\ny\n'), '\u001b[31;1mred\u001b[0m\tx\ny\n\u001b[0m');
    assert.equal(show('plain\n'), 'plain\n');
  });

  it('makes every other sequence harmless', () => {
    assert.equal(show('\u001b[2Ja\u001b]0;title\u0007b\u009b2Jc\bd\u202ee'), ' [2Ja ]0;title b 2Jc d e');
  });

  it('makes a line of each state of a line that overwrites itself', () => {
    assert.equal(show('10%\r20%\r\ndone\r'), '10%\n20%\ndone\n');
  });

  it('knows a sequence that comes in two parts', () => {
    assert.equal(show('a\u001b', '[3', '2mb'), 'a\u001b[32mb\u001b[0m');
    assert.equal(show('a\u001b[', '2Jb\u001b'), 'a [2Jb ');
    assert.equal(show('a\r', '\nb'), 'a\nb');
  });
});

describe('the command that shows a log', () => {
  it('can be copied, whatever the check is called', () => {
    assert.equal(formatLogCommand('id', 'test'), 'sluice logs id test');
    assert.equal(formatLogCommand('id', "Bo's $(test)"), "sluice logs id 'Bo'\\''s $(test)'");
    assert.equal(formatLogCommand('id', '-x', '-f '), 'sluice logs -f id -- -x');
    assert.equal(formatLogCommand('id'), 'sluice logs id');
  });
});
